import { wordsOfIssue } from '@hedgerow/contract/words'
import type { z } from 'zod'
import { nearest } from '../kernel/nearest.ts'

/** The sentence for a value of gateway.yaml that a schema refuses, when the schema has none of its own. */
export function wordsOfError(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'This key is not known.'
    case 'invalid_type':
      return issue.input === undefined ? 'This key is missing.' : `This must be ${typeInWords(issue)}.`
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'This name is not allowed.'
    case 'invalid_union':
      return wordsOfUnion(issue)
    default:
      return `${wordsOfIssue(issue)
        .replace(/^Must /, 'This must ')
        .replace(/\.$/, '')}.`
  }
}

function typeInWords({ expected, input }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string {
  if (expected === 'string' && typeof input === 'boolean') return 'text (put true and false in quotes)'
  return TYPES[expected] ?? expected
}

/** What may be wrong with a value that is refused, as it is written. */
export function hintOf(written: unknown, message: string): string {
  if (typeof written !== 'string') return ''
  if (/^[\u2018-\u201F\u00AB\u2039]/.test(written)) return ' Its quotation marks are typographic: write " or \'.'
  const choices = message.includes('time zone')
    ? Intl.supportedValuesOf('timeZone')
    : /^This must be (?:one of )?(\w+(?:(?:, | or )\w+)+)\.$/.exec(message)?.[1]?.split(/, | or /)
  const near = choices && nearest(written, choices)
  if (near !== undefined) return ` The nearest is ${near}.`
  if (message.endsWith('number.') && /^[+-]?\d+(?:[.,]\d+)?$/.test(written))
    return ` Write ${written.replace(',', '.')}, without quotation marks.`
  const early = written.search(/[#?\s]|(?<![:/])\/(?!\/)/)
  if (early >= 0 && written.includes('://') && !written.slice(0, early).includes('@') && written.includes('@', early))
    return ' In a password write # as %23, / as %2F and ? as %3F.'
  return ''
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'a group of keys',
  record: 'a group of keys',
  array: 'a list',
  string: 'text (put numbers in quotes)',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
}

function wordsOfUnion({ errors, options }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  if (Array.isArray(options)) return `This must be one of ${options.join(', ')}.`
  const alternatives = new Set((errors ?? []).flatMap(([first]) => (first ? [first.message] : [])))
  return alternatives.size === 0 ? 'This value is not allowed here.' : [...alternatives].join(' Or: ')
}
