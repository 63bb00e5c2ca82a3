import { readFileSync, writeFileSync } from 'node:fs'
import { proseFiles, wrapLongLines } from './line-width.ts'

/** Part of `npm run format`: wraps the paragraphs of documents and comments that have lines beyond column 120. */
for (const file of proseFiles()) {
  const text = readFileSync(file, 'utf8')
  const wrapped = wrapLongLines(file, text)
  if (wrapped !== text) writeFileSync(file, wrapped)
}
