/** Mails to people about their account, sent at once: the outbox would keep the secrets of their links. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Language } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { readSettings } from '../settings/settings.ts'
import { INVITED, RESET } from './mail-words.ts'

const ANSWER_WITHIN_MS = 15_000
const NOT_YET = 'The mail server has not answered yet: the mail may still arrive.'
const PRODUCT = 'Hedgerow'

export type PersonalMail = { to: string; title: string; text: string; language: Language; path: string }

export type AccountMail = ReturnType<typeof createAccountMail>

export function createAccountMail({
  db,
  sendMail,
  languageOf,
}: {
  db: Kysely<Tables>
  sendMail: (mail: PersonalMail) => Promise<void>
  languageOf: (userId: string) => Promise<Language>
}) {
  return {
    async sendReset(person: { id: string; username: string; email: string }, token: string): Promise<void> {
      const { hubName } = await readSettings(db)
      const language = await languageOf(person.id)
      const words = RESET[language](hubName || PRODUCT, person.username)
      // The token is in the fragment: browsers send it to no server, so that no log holds it.
      await sendMail({ to: person.email, ...words, language, path: `/reset-password#${token}` })
    },

    /** Returns why it was not sent, as a sentence. */
    async sendInvitation(to: string, { code, by, until }: { code: string; by: string; until: Date }) {
      const { hubName, language } = await readSettings(db)
      const words = INVITED[language](hubName || PRODUCT, by, until)
      const path = `/register#invite=${encodeURIComponent(code)}`
      const sending = sendMail({ to, ...words, language, path }).then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, 300),
      )
      const answered = new AbortController()
      const late = pause(ANSWER_WITHIN_MS, NOT_YET, { ref: false, signal: answered.signal }).catch(() => NOT_YET)
      return Promise.race([sending, late]).finally(() => answered.abort())
    },
  }
}
