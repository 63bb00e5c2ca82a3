/** Reads the answer of a vision model. Models add code fences, prose and reasoning, and answers may be cut off. */
import { cleanLine, type Verdict } from '@hedgerow/contract'
import { z } from 'zod'

/** One stage's opinion of a picture. */
export type Look = Pick<Verdict, 'outcome' | 'score' | 'reason'>

const REASON_MAX = 200
/** Below this confidence, the answer counts as unsure. */
const CONFIDENCE_MIN = 0.5
const OBJECTS_MAX = 50

export const unsure = (reason: string): Look => ({ outcome: 'unsure', reason })

const answer = z.object({
  shown: z.enum(['yes', 'no', 'unsure']),
  confidence: z.number().min(0).max(1).optional(),
  reason: z.string().optional(),
})

const choice = z.object({
  finish_reason: z.string().nullish(),
  message: z.object({
    refusal: z.string().nullish(),
    content: z.union([z.string(), z.array(z.object({ type: z.string(), text: z.string().optional() }))]).nullish(),
  }),
})
const completion = z.object({ choices: z.array(choice).min(1) })

/** `body` is the JSON of a chat completion. */
export function parseAnswer(body: unknown): Look {
  const parsed = completion.safeParse(body)
  if (!parsed.success) return unsure('The endpoint did not answer as a chat completion.')
  const { message, finish_reason: ending } = parsed.data.choices[0]!
  if (message.refusal || ending === 'content_filter') return unsure('The model refuses to look at this picture.')
  const text = typeof message.content === 'string' ? message.content : joined(message.content ?? [])
  const answers = objectsIn(text).flatMap((value) => {
    const found = answer.safeParse(value)
    return found.success ? [found.data] : []
  })
  const [first] = answers
  if (!first) return unsure(ending === 'length' ? 'The answer was cut off.' : 'The answer was not understood.')
  // A picture may contain writing that looks like an answer, and a model may repeat it.
  if (answers.some(({ shown }) => shown !== first.shown)) return unsure('The model gave two answers.')
  return lookOf(answers.at(-1)!)
}

function lookOf({ shown, confidence, reason }: z.output<typeof answer>): Look {
  const isSure = confidence === undefined || confidence >= CONFIDENCE_MIN
  const outcome = shown === 'unsure' || !isSure ? 'unsure' : shown === 'yes' ? 'confirmed' : 'rejected'
  const words = reason && cleanLine(Infinity).parse(reason).slice(0, REASON_MAX).toWellFormed().trim()
  return { outcome, ...(confidence !== undefined && { score: confidence }), ...(words && { reason: words }) }
}

function joined(parts: readonly { text?: string | undefined }[]): string {
  return parts.map(({ text }) => text ?? '').join('')
}

/** The outermost JSON objects in a text, after the reasoning. */
function objectsIn(text: string): unknown[] {
  const spoken = text.slice(text.lastIndexOf('</think>') + 1)
  const found: unknown[] = []
  for (let from = spoken.indexOf('{'), tries = 0; from >= 0 && tries < OBJECTS_MAX; tries++) {
    const end = endOfObject(spoken, from)
    const value = end === undefined ? undefined : parseJson(spoken.slice(from, end))
    if (value !== undefined) found.push(value)
    from = spoken.indexOf('{', value === undefined ? from + 1 : end)
  }
  return found
}

/** The index after the brace that closes the one at `from`. */
function endOfObject(text: string, from: number): number | undefined {
  let depth = 0
  let isInText = false
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (isInText && character === '\\') at++
    else if (character === '"') isInText = !isInText
    else if (!isInText && character === '{') depth++
    else if (!isInText && character === '}' && --depth === 0) return at + 1
  }
  return undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
