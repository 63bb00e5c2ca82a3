/** Two stacks on Node's clock, joined in memory, for tests of streams. Only tests use it. */
import type { DropReason } from '../drop.ts'
import { createRandom } from '../simulator.ts'
import { type Stack, createStack } from './stack.ts'

export interface JoinedStacks {
  a: Stack
  b: Stack
  drops: DropReason[]
  /** How many packets the path has lost. */
  lost: number
  /** While true every packet is lost. */
  cut: boolean
  close(): void
}

export const A = '10.100.0.1'
export const B = '10.100.0.2'

export function joinStacks(path: { loss?: number; seed?: number; delayMs?: number } = {}): JoinedStacks {
  const { loss = 0, delayMs = 0 } = path
  const random = createRandom(path.seed ?? 1)
  const drops: DropReason[] = []
  const carry = (to: () => Stack) => (sent: Uint8Array) => {
    if (joined.cut || random() < loss) {
      joined.lost++
      return
    }
    const packet = new Uint8Array(sent)
    if (delayMs > 0) setTimeout(() => to().receive(packet), delayMs)
    else setImmediate(() => to().receive(packet))
  }
  const onDrop = (reason: DropReason): void => void drops.push(reason)
  const joined: JoinedStacks = {
    a: createStack({ address: A, send: carry(() => joined.b), onDrop }),
    b: createStack({ address: B, send: carry(() => joined.a), onDrop }),
    drops,
    lost: 0,
    cut: false,
    close() {
      joined.a.close()
      joined.b.close()
    },
  }
  return joined
}
