/**
 * `npm run fuzz http -- --seconds 60 --seed 1 --target front`: sends mutated HTTP to real processes for a while, to
 * each target in turn unless one is named. At a failure it prints the seed and the round to repeat, and ends with exit
 * code 1.
 */
import { parseArgs } from 'node:util'
import { runRounds } from './http/rounds.ts'
import { TARGETS } from './http/targets.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    target: { type: 'string', multiple: true, default: Object.keys(TARGETS) },
  },
})
const unknown = values.target.filter((name) => !Object.hasOwn(TARGETS, name))
if (positionals.join() !== 'http' || unknown.length > 0) {
  console.error(`Usage: npm run fuzz http -- --seconds 60 --seed 1 --target ${Object.keys(TARGETS).join('|')}`)
  process.exit(2)
}

let hasFailed = false
for (const name of values.target) {
  const target = await TARGETS[name]!()
  const endAt = performance.now() + Number(values.seconds) * 1_000
  try {
    const seed = Number(values.seed)
    const count = await runRounds(target, { seed, more: () => performance.now() < endAt, isPatient: true })
    console.log(`${name}: ${count} conversations, no fault`)
  } catch (error) {
    hasFailed = true
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
  }
  await target.stop()
}
process.exit(hasFailed ? 1 : 0)
