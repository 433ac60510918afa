import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Request } from './scenarios.js'

const CONNECTIONS = 8

export interface Answer {
  readonly status: number | undefined
  readonly body: string
}

/** A server in a process of its own, which is sent requests. */
export class Contender {
  readonly name: string
  readonly #process: ChildProcess
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

  private constructor (name: string, child: ChildProcess, port: number) {
    this.name = name
    this.#process = child
    this.#port = port
  }

  /** Starts the program of a server. */
  static async start (name: string, program: URL, parameters: readonly string[] = []): Promise<Contender> {
    const child = fork(fileURLToPath(program), parameters)
    const [port] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => { throw new Error(`the server of ${name} ended with ${code}`) })
    ])
    return new Contender(name, child, port as number)
  }

  async ask ({ method, url, headers, body }: Request): Promise<Answer> {
    const length = body !== undefined && { 'content-length': Buffer.byteLength(body) }
    const asked = request({
      agent: this.#agent, host: '127.0.0.1', port: this.#port, method, path: url, headers: { ...headers, ...length }
    })
    asked.end(body)
    const [answer] = await once(asked, 'response') as [IncomingMessage]
    return { status: answer.statusCode, body: await text(answer) }
  }

  /** Sends a request so many times, and returns the CPU time of the server for one in microseconds. */
  async measure (request: Request, count: number): Promise<number> {
    const before = await this.#cpu()
    let left = count
    await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
      while (left-- > 0) await this.ask(request)
    }))
    return (await this.#cpu() - before) / count
  }

  stop (): void {
    this.#agent.destroy()
    this.#process.disconnect()
  }

  async #cpu (): Promise<number> {
    this.#process.send('cpu')
    const [microseconds] = await once(this.#process, 'message')
    return microseconds as number
  }
}
