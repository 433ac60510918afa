import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Tells the parent process the port of a listening server, and its CPU time in microseconds when it asks. */
export function serve (server: Server): void {
  process.on('disconnect', () => process.exit())
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  process.send?.((server.address() as AddressInfo).port)
}
