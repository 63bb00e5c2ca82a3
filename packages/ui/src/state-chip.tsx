import { Chip, type Tone } from './chip.tsx'
import { useCountdown } from './now.ts'

type StateChipProps = {
  tone: Tone
  word: string
  /** When it changes by itself; null when that is unknown. */
  until: string | null
  /** The whole state in a sentence at a time; `title` is for the pointer. */
  line: (now: number) => { words: string; title: string }
  /** Shows the sentence, not the word alone. */
  isFull?: boolean
}

/** A state that may count down, in a word with its sentence for the pointer, or as the sentence. */
export function StateChip({ tone, word, until, line, isFull = false }: StateChipProps) {
  const { words, title } = line(useCountdown(until))
  return (
    <Chip tone={tone} title={title} isLong={isFull}>
      {isFull ? words : word}
    </Chip>
  )
}
