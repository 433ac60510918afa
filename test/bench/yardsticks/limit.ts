import { createServer, type OutgoingHttpHeaders, type Server } from 'node:http'

/** The answer to every request. */
export interface ConstantAnswer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
}

/** Sends constant bytes, without routes, parsing or serializing. No server on Node's HTTP can be faster. */
export function makeLimit ({ status, headers, body }: ConstantAnswer): Server {
  return createServer((_request, response) => {
    response.writeHead(status, headers)
    response.end(body)
  })
}
