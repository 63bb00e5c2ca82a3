/**
 * `npm run fuzz -w packages/wireguard -- --seconds 60 --seed 1 --corpus FOLDER`: mutates inputs for a device for a
 * while, and keeps each that reaches new code. An exception, a forbidden output or a slow call ends it with the input
 * in hexadecimal and exit code 1. With a folder, the next run starts with the inputs kept there.
 */

import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openCoverage } from './coverage.ts'
import { createRandom, mutate } from './mutate.ts'
import type { Input } from './target.ts'
import { KINDS, createTarget, seeds } from './target.ts'

/**
 * Counting blocks costs more than running, so batches are counted, and single inputs only of batches that reached new
 * code.
 */
const BATCH = 50
const LIMIT_MS = 250
const REPORT_MS = 5_000

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    corpus: { type: 'string' },
  },
})
const random = createRandom(Number(values.seed))
const target = createTarget()
const corpus = [...seeds(), ...(await readCorpus())]
const behaviours = new Set<string>()
const coverage = await openCoverage((url) => url.includes('/packages/wireguard/src/') && !url.includes('/simulator/'))

for (const input of corpus) run(input)
for (const block of await coverage.take()) behaviours.add(block)

let runs = 0
let reportAt = performance.now() + REPORT_MS
for (const endAt = performance.now() + Number(values.seconds) * 1000; performance.now() < endAt;) {
  const batch = Array.from({ length: BATCH }, createInput)
  for (const input of batch) run(input)
  runs += BATCH
  const fresh = new Set(await coverage.take()).difference(behaviours)
  if (fresh.size > 0) await keepThoseThatReach(fresh, batch)
  if (performance.now() >= reportAt) {
    reportAt += REPORT_MS
    report('')
  }
}
report(', no fault')
process.exit()

function createInput(): Input {
  const { kind, data } = pick()
  return { kind, data: mutate(data, pick().data, random) }
}

function pick(): Input {
  return corpus[random(corpus.length)] as Input
}

function run(input: Input): void {
  const before = process.threadCpuUsage()
  try {
    target.run(input)
    const { user, system } = process.threadCpuUsage(before)
    const tookMs = (user + system) / 1000
    if (tookMs > LIMIT_MS) throw new Error(`it took ${Math.round(tookMs)} ms`)
  } catch (error) {
    process.stderr.write(`fault: ${input.kind} ${Buffer.from(input.data).toString('hex')}\n`)
    throw error
  }
}

/**
 * The device has moved on since, so a second run need not reach the same code; then the block counts as known without
 * an input.
 */
async function keepThoseThatReach(fresh: Set<string>, batch: Input[]): Promise<void> {
  for (const block of fresh) behaviours.add(block)
  for (const input of batch) {
    run(input)
    const reached = (await coverage.take()).filter((block) => fresh.delete(block))
    if (reached.length === 0) continue
    corpus.push(input)
    if (values.corpus === undefined) continue
    const name = createHash('sha256').update(input.data).digest('hex').slice(0, 16)
    await writeFile(join(values.corpus, `${input.kind}-${name}`), input.data)
  }
}

async function readCorpus(): Promise<Input[]> {
  const folder = values.corpus
  if (folder === undefined) return []
  await mkdir(folder, { recursive: true })
  const inputs: Input[] = []
  for (const name of (await readdir(folder)).toSorted()) {
    const kind = KINDS.find((kind) => name.startsWith(`${kind}-`))
    if (kind !== undefined) inputs.push({ kind, data: new Uint8Array(await readFile(join(folder, name))) })
  }
  return inputs
}

function report(end: string): void {
  process.stdout.write(`${runs} runs, ${corpus.length} inputs kept, ${behaviours.size} blocks reached${end}\n`)
}
