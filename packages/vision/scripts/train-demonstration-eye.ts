import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pack, unpack } from '../src/demonstration/eye.ts'
import { accuracyOf, drawExamples, HELD_OUT, trainDemonstrationEye } from '../src/demonstration/training.ts'

/** `npm run train-eye -w packages/vision`: draws crops, trains, writes the weights and prints their accuracy. */
const file = join(import.meta.dirname, '../src/demonstration/weights.ts')
const startedAt = performance.now()
const packed = pack(trainDemonstrationEye())
const seconds = Math.round((performance.now() - startedAt) / 100) / 10
const heldOut = drawExamples(HELD_OUT)
const accuracy = accuracyOf(unpack(packed), heldOut)
writeFileSync(
  file,
  `/** Made by \`npm run train-eye -w packages/vision\`; a test makes it again and compares. */\nexport const ` +
    `WEIGHTS =\n  '${packed}'\n`,
)
console.log(
  `trained in ${seconds} s; ${(accuracy * 100).toFixed(1)} % of ${heldOut.labels.length} held-out crops are right`,
)
