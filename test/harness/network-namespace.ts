import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { startChild, type Child } from './child-process.ts'

const run = promisify(execFile)

/** A Linux network namespace joined to the host by one pair of virtual Ethernet interfaces. Needs root. */
export type NetworkNamespace = {
  readonly name: string
  /** The host's end of the pair. */
  readonly hostAddress: string
  /** The namespace's end. */
  readonly address: string
  /** Runs a command inside to its end; returns its standard output. */
  run(command: string, args: string[]): Promise<string>
  /** Starts a command inside that ends with the namespace. */
  start(command: string, args: string[], env?: Record<string, string>): Promise<Child>
  /** Ends all processes started inside, by their ids, and removes namespace and interfaces. */
  remove(): Promise<void>
}

/** Throws where browsers run beside (vitest.config.ts says why). Everything that makes interfaces calls it first. */
export function refuseBesideBrowsers(): void {
  if (process.env['TEST_BROWSERS'] === 'beside')
    throw new Error('A network interface would break pages of the browsers beside it: move this test to test/interop')
}

/** Two addresses of 198.18.0.0/15 (RFC 2544, for tests between devices) are the two ends of the link. */
export async function createNetworkNamespace(): Promise<NetworkNamespace> {
  refuseBesideBrowsers()
  const tag = randomBytes(3).toString('hex')
  const name = `hedgerow-${tag}`
  const [outside, inside] = [`hg${tag}o`, `hg${tag}i`]
  const block = `198.18.${randomBytes(1)[0]!}`
  const [hostAddress, address] = [`${block}.1`, `${block}.2`]
  const children: Child[] = []
  const ip = (...args: string[]) => run('ip', args)
  const remove = async () => {
    for (const child of children) if (!child.hasEnded()) await child.stop(2_000)
    await ip('netns', 'delete', name).catch(() => undefined)
    await ip('link', 'delete', outside).catch(() => undefined)
  }

  try {
    await ip('netns', 'add', name)
    await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', name)
    await ip('address', 'add', `${hostAddress}/30`, 'dev', outside)
    await ip('link', 'set', outside, 'up')
    await ip('-n', name, 'address', 'add', `${address}/30`, 'dev', inside)
    await ip('-n', name, 'link', 'set', inside, 'up')
    await ip('-n', name, 'link', 'set', 'lo', 'up')
  } catch (error) {
    await remove()
    throw error
  }

  return {
    name,
    hostAddress,
    address,
    run: async (command, args) => (await run('ip', ['netns', 'exec', name, command, ...args])).stdout,
    async start(command, args, env = {}) {
      const child = await startChild('ip', ['netns', 'exec', name, command, ...args], { env })
      children.push(child)
      return child
    },
    remove,
  }
}
