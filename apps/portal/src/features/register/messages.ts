/** The portal's own messages for this screen. */
import { textOf } from '#api/words.ts'

export const REGISTER_HEAD = { title: 'Create Account', lead: 'Your own account on this hub.' }
export const REGISTERED = 'Registration successful! You can now log in.'
export const PASSWORDS_DIFFER = 'Passwords do not match'
export const INVITE_CODE_MISSING = 'Invite code is required'
export const FAILED = 'Registration failed'

/** Longer texts, and HTML pages, do not help a person. */
const TEXT_MAX_LENGTH = 300

/**
 * The text of a refusal: the hub's own, or that of a proxy in front of it.
 */
export function wordsOfRefusal(body: unknown, status: number): string | undefined {
  if (status !== 400) return textOf(body, 'message') ?? textOf(body, 'error')
  return textOf(body, 'message') ?? joined(body, 'errors') ?? joined(body, 'fieldErrors') ?? plainText(body)
}

function joined(body: unknown, field: 'errors' | 'fieldErrors'): string | undefined {
  if (typeof body !== 'object' || body === null || !(field in body)) return undefined
  const found: unknown = Object.entries(body).find(([name]) => name === field)?.[1]
  if (typeof found !== 'object' || found === null) return undefined
  const words = Object.values(found).flatMap((value: unknown) => {
    const text = typeof value === 'string' ? value : (textOf(value, 'defaultMessage') ?? textOf(value, 'message'))
    return text === undefined ? [] : [text]
  })
  return words.length === 0 ? undefined : words.join(', ')
}

function plainText(body: unknown): string | undefined {
  if (typeof body !== 'string') return undefined
  const text = body.trim()
  return text === '' || text.startsWith('<') || text.length > TEXT_MAX_LENGTH ? undefined : text
}
