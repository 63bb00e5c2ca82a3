/** The program of the thread that guess-estimates.ts starts: it answers each password with an estimate. */
import { parentPort } from 'node:worker_threads'
import { ZxcvbnFactory, type MatchExtended } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary as common } from '@zxcvbn-ts/language-common'
import { dictionary as english } from '@zxcvbn-ts/language-en'
import type { Estimate, Question } from './guess-estimates.ts'

/** The time grows faster than the length and the number of leet readings; these limits keep it below 0.2 s. */
const CHARACTERS_READ = 64
const LEET_READINGS = 16
/** The first words that an attacker of this product would try. */
const PRODUCT = ['hedgerow']

const zxcvbn = new ZxcvbnFactory({
  dictionary: { ...common, ...english },
  graphs: adjacencyGraphs,
  maxLength: CHARACTERS_READ,
  l33tMaxSubstitutions: LEET_READINGS,
})

parentPort?.on('message', ({ password, names }: Question) => {
  const { guesses, sequence } = zxcvbn.check(password, [...names, ...PRODUCT])
  const [longest] = sequence.filter(isKnown).toSorted((a, b) => b.token.length - a.token.length)
  const holds = longest && (isWord(longest) ? 'words' : 'pattern')
  parentPort?.postMessage({ guesses, holds } satisfies Estimate)
})

function isKnown({ pattern }: MatchExtended): boolean {
  return pattern !== 'bruteforce' && pattern !== 'separator'
}

/** A repeated word is still a word. */
function isWord({ pattern, baseToken }: MatchExtended & { baseToken?: unknown }): boolean {
  if (pattern === 'repeat') return String(baseToken).length > 3
  return pattern === 'dictionary' || pattern === 'wordSequence'
}
