import type { z } from 'zod'

type Issue = z.core.$ZodRawIssue

/**
 * The sentence for a value that a schema refuses, when the schema has none of its own. The hub's requests and the
 * portal's forms pass it to zod as `error`. zod's own words are for programmers.
 */
export function wordsOfIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'This field is missing'
        : `Must be ${TYPES[issue.expected] ?? 'something else'}`
    case 'invalid_value':
      return `Must be ${issue.values.map((value) => (value === '' ? 'empty' : String(value))).join(' or ')}`
    case 'too_big':
      return atMost(issue.origin, issue.maximum)
    case 'too_small':
      return atLeast(issue.origin, issue.minimum)
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'This does not have the right form'
    case 'unrecognized_keys':
      return 'This field is not known.'
    case 'invalid_union':
      // The first options are the exceptions, such as an empty text.
      return issue.errors?.at(-1)?.[0]?.message ?? 'This value is not allowed here'
    default:
      return 'This is not valid'
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'Enter an email address such as name@example.org',
  datetime: 'Must be a moment such as 2026-01-31T12:00:00Z',
  uuid: 'This is not an id',
  mac: 'Must be a MAC address such as 02:00:5e:00:53:01',
  base64: 'Must be base64',
}

function atMost(origin: string, maximum: number | bigint): string {
  const limit = maximum.toLocaleString('en')
  if (origin === 'string') return `At most ${limit} characters`
  return origin === 'array' ? `At most ${limit} entries` : `Must be at most ${limit}`
}

function atLeast(origin: string, minimum: number | bigint): string {
  const limit = minimum.toLocaleString('en')
  if (origin !== 'string' && origin !== 'array') return `Must be at least ${limit}`
  if (Number(minimum) === 1) return 'Must not be empty'
  return `At least ${limit} ${origin === 'string' ? 'characters' : 'entries'}`
}
