/** The page of a message's link, in the language of the message. */
import type { Acknowledgement, Language } from '@hedgerow/contract'
import { acknowledgedInWords } from '#parts/acknowledged.ts'
import { CHANNEL_NAMES } from '@hedgerow/contract/constants'

type Words = {
  acknowledge: string
  consequence: string
  open: string
  done(acknowledgement: Acknowledgement): string
}

export const WORDS: Readonly<Record<Language, Words>> = {
  en: {
    acknowledge: 'Acknowledge',
    consequence: 'Nobody else gets a message once you have acknowledged it.',
    open: 'Open the hub',
    done: acknowledgedInWords,
  },
  de: {
    acknowledge: 'Bestätigen',
    consequence: 'Sobald Sie bestätigen, bekommt niemand sonst eine Nachricht.',
    open: 'Hub öffnen',
    done: ({ by, via, at }) => {
      const who = by === '' ? '' : ` von ${by}`
      const how = via === 'portal' ? '' : `, über einen Link (${CHANNEL_NAMES[via] ?? via})`
      return `Bestätigt${who} am ${new Date(at).toLocaleString('de')}${how}.`
    },
  },
}
