import { z } from 'zod'

/** A setting that is an origin, such as `http://127.0.0.1:5000`: no path, no password. `message` shows an example. */
export const originSetting = (protocols: readonly string[], message: string) =>
  z
    .string()
    .max(500)
    .refine((text) => isOrigin(text, protocols), { error: message, abort: true })

function isOrigin(text: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  const isBare = ['', '/'].includes(url.pathname) && url.search === '' && url.hash === ''
  return protocols.includes(url.protocol) && url.hostname !== '' && isBare && url.username === '' && url.password === ''
}
