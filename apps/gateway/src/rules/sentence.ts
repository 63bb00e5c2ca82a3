import type { Rule } from './schema.ts'

/**
 * What a rule does, for people: `Boar or deer on orchard, with a score of 0.7 or more: fires sprinkler for 5 to 12 s.`
 */
export function ruleSentence(rule: Rule): string {
  const conditions = [
    `${listOf(rule.labels, 'or')} on ${rule.cameras ? listOf(rule.cameras, 'or') : 'any camera'}`,
    rule.zones && `in ${listOf(rule.zones, 'or')}`,
    rule.minimumScore > 0 && `with a score of ${rule.minimumScore} or more`,
    rule.verdict === 'confirmed' && 'if the last look confirms it',
    rule.hours && `from ${listOf([rule.hours].flat().map(rangeOf), 'and from')}`,
    rule.days && `on ${listOf(rule.days.map(capitalised), 'and')}`,
    rule.aboutPersons && 'also while a person is there',
  ]
  const what = rule.choose === 'one' && rule.fire.length > 1 ? 'one of ' : ''
  const fires = `fires ${what}${listOf(rule.fire, rule.choose === 'one' ? 'or' : 'and')}${lengthOf(rule.seconds)}`
  const sentence = `${conditions.filter(Boolean).join(', ')}: ${fires}.`
  return rule.enabled ? capitalised(sentence) : `Switched off. ${capitalised(sentence)}`
}

function lengthOf(seconds: Rule['seconds']): string {
  if (seconds === undefined) return ''
  return Array.isArray(seconds) ? ` for ${seconds[0]} to ${seconds[1]} s` : ` for ${seconds} s`
}

/** `sunset+30m-23:30`: `sunset+30m to 23:30`. */
function rangeOf(range: string): string {
  return range.replace(/^((?:sunrise|sunset)(?:[+-]\d+m)?|[\d:]+)-/, '$1 to ')
}

function listOf(names: readonly string[], word: string): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
