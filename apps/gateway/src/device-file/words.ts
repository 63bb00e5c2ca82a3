import { wordsOfIssue } from '@hedgerow/contract/words'
import type { z } from 'zod'

/** The sentence for a value of gateway.yaml that a schema refuses, when the schema has none of its own. */
export function wordsOfError(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'This key is not known.'
    case 'invalid_type':
      return `This must be ${TYPES[issue.expected] ?? issue.expected}.`
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
  const ways = new Set((errors ?? []).flatMap(([first]) => (first ? [first.message] : [])))
  return ways.size === 0 ? 'This value is not allowed here.' : [...ways].join(' Or: ')
}
