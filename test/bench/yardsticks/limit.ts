import { createServer, type OutgoingHttpHeaders, type Server } from 'node:http'

/** What is sent, whatever is asked for. */
export interface ConstantAnswer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
}

/** Nothing on Node's HTTP can be faster: no routes, no parsing, no serializing, bytes that are there already. */
export function makeLimit ({ status, headers, body }: ConstantAnswer): Server {
  return createServer((_request, response) => {
    response.writeHead(status, headers)
    response.end(body)
  })
}
