import { createRandom } from '../../../packages/wireguard/fuzz/mutate.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { openDescriptors, type Target } from './targets.ts'

const AT_ONCE = 25
/** Allows for descriptors that come and go: of the database, the log, the checks. */
const SLACK = 4
/** Longer than every deadline of a front. */
const DEADLINES_MS = 100_000

export type Rounds = {
  seed: number
  /** Whether there is time for another round. */
  more(rounds: number): boolean
  /** Leaves the last connections open, so that the deadlines of the other side end them. */
  isPatient?: boolean
}

/**
 * Attacks in rounds. After each round the process must run, serve an ordinary request and have closed the attackers'
 * connections. Throws the failure, with the round to repeat. Returns the number of conversations.
 */
export async function runRounds(target: Target, { seed, more, isPatient = false }: Rounds): Promise<number> {
  const { pid } = target.process()
  await target.isWell()
  const before = openDescriptors(pid)
  const isBack = () => openDescriptors(pid) <= before + SLACK
  /** On a busy machine the hub opens connections to the fuzzer after the round has let go of all. */
  const isBackAfterLettingGo = () => {
    target.letGo()
    return isBack()
  }
  let round = 0
  for (; more(round); round++) {
    const where = `round ${round} of seed ${seed}`
    await attackAtOnce(target, seed, round)
    target.letGo()
    await check(target, where)
    await waitFor(isBackAfterLettingGo, { for: `the descriptors to be back at ${before}, after ${where}` })
  }
  if (isPatient) {
    await attackAtOnce(target, seed, round)
    await waitFor(isBack, { for: `deadlines to end what is left`, timeoutMs: DEADLINES_MS, everyMs: 1_000 })
    target.letGo()
    await check(target, 'the round that was left alone')
  }
  return round * AT_ONCE
}

/** Each conversation has a random source of its own, so that a round repeats in any order of events. */
async function attackAtOnce(target: Target, seed: number, round: number): Promise<void> {
  const attacks = Array.from({ length: AT_ONCE }, (_, i) =>
    target.attack(createRandom(Math.imul(seed * 1_000_003 + round * AT_ONCE + i + 1, 0x9e3779b1))),
  )
  await Promise.all(attacks)
}

async function check(target: Target, where: string): Promise<void> {
  const process = target.process()
  const said = () => `${where}. It said:\n${process.output().slice(-8_000)}`
  const well = waitFor(() => process.hasEnded() || target.isWell(), { for: `an answer after ${where}` })
  await well.catch((cause: unknown) => {
    throw new Error(`No ordinary request is served after ${said()}`, { cause })
  })
  if (process.hasEnded()) throw new Error(`The process ended in ${said()}`)
  const faults = await target.faults()
  if (faults !== 0) throw new Error(`The last guard caught ${faults} errors in ${said()}`)
}
