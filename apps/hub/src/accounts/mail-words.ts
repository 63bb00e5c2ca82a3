/** The mails to people about their account, in each language. */
import { RESET_LINK_MINUTES, type Language } from '@hedgerow/contract'

type Words = { title: string; text: string }

/** `hub` is its name. The address of the page follows the text. */
export const RESET: Readonly<Record<Language, (hub: string, username: string) => Words>> = {
  en: (hub, username) => ({
    title: `${hub}: set a new password`,
    text: [
      `Somebody asked for a new password of ${username} at ${hub}. This link sets it, once, within`,
      `${RESET_LINK_MINUTES} minutes. If it was not you, do nothing: your password stays.`,
    ].join('\n'),
  }),
  de: (hub, username) => ({
    title: `${hub}: neues Passwort setzen`,
    text: [
      `Jemand hat ein neues Passwort für ${username} bei ${hub} angefordert. Dieser Link setzt es, einmal, innerhalb`,
      `von ${RESET_LINK_MINUTES} Minuten. Waren Sie das nicht, tun Sie nichts: Ihr Passwort bleibt.`,
    ].join('\n'),
  }),
}

export const INVITED: Readonly<Record<Language, (hub: string, by: string, until: Date) => Words>> = {
  en: (hub, by, until) => ({
    title: `${by} invites you to ${hub}`,
    text: `This link makes your account at ${hub}. It is valid until ${until.toUTCString()}.`,
  }),
  de: (hub, by, until) => ({
    title: `${by} lädt Sie zu ${hub} ein`,
    text: `Mit diesem Link legen Sie Ihr Konto bei ${hub} an. Er gilt bis ${until.toUTCString()}.`,
  }),
}
