/**
 * `npm run fuzz http -- --seconds 60 --seed 1 --target front`: sends mutated HTTP to real processes for a while, to
 * each target in turn unless one is named; `heads` holds the hub's reader of plain requests against Node's parser. At a
 * failure it prints what to repeat, and ends with exit code 1.
 */
import { parseArgs } from 'node:util'
import { createRandom } from '../../packages/wireguard/fuzz/mutate.ts'
import { compare, makeHead } from './http/heads.ts'
import { runRounds } from './http/rounds.ts'
import { TARGETS } from './http/targets.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    target: { type: 'string', multiple: true, default: ['heads', ...Object.keys(TARGETS)] },
  },
})
const unknown = values.target.filter((name) => name !== 'heads' && !Object.hasOwn(TARGETS, name))
if (positionals.join() !== 'http' || unknown.length > 0) {
  console.error(`Usage: npm run fuzz http -- --seconds 60 --seed 1 --target heads|${Object.keys(TARGETS).join('|')}`)
  process.exit(2)
}

let hasFailed = false
const seed = Number(values.seed)
for (const name of values.target) {
  const endAt = performance.now() + Number(values.seconds) * 1_000
  const more = () => performance.now() < endAt
  if (name === 'heads') {
    await compareHeads(more)
    continue
  }
  const target = await TARGETS[name]!()
  try {
    const count = await runRounds(target, { seed, more, isPatient: true })
    console.log(`${name}: ${count} conversations, no fault`)
  } catch (error) {
    hasFailed = true
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
  }
  await target.stop()
}
process.exit(hasFailed ? 1 : 0)

async function compareHeads(more: () => boolean): Promise<void> {
  const random = createRandom(seed)
  let [count, taken] = [0, 0]
  try {
    for (; more(); count++) if (await compare(makeHead(random))) taken++
    console.log(`heads: ${count} heads, ${taken} taken, no difference`)
  } catch (error) {
    hasFailed = true
    console.error(`heads: ${error instanceof Error ? error.message : String(error)}`)
  }
}
