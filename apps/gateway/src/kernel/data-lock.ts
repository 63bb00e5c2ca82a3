import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { createServer } from 'node:net'
import { DataFileError } from './durable-file.ts'

/**
 * Refuses a second agent on the same data directory: two agents with one identity would steal each other's tunnel. The
 * lock is a name in Linux's abstract socket namespace. The kernel removes it with the process, so a power cut leaves no
 * stale lock. Other systems have no such names and take no lock. Returns the function that releases the lock.
 */
export async function lockDataDirectory(dataDir: string): Promise<() => void> {
  if (process.platform !== 'linux') return () => {}
  const place = createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex')
  const server = createServer((socket) => socket.destroy())
  server.listen(`\0hedgerow-gateway-${place}`)
  try {
    await once(server, 'listening')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    throw new DataFileError(
      `Another gateway is running with ${dataDir}. Stop it first, or use another directory: --data or ` +
        'GATEWAY_DATA_DIR.',
    )
  }
  server.unref()
  return () => void server.close()
}
