/** Finds sections of the help. Pure. */
import { plainText, type HelpPage } from './text.ts'

export type Section = { page: string; title: string; id: string; heading: string; text: string }
export type Found = Section & { excerpt: string }

const FOUND_MAX = 20
const EXCERPT_LENGTH = 160

/** Each page in parts, one for each heading. */
export function sectionsOf(pages: readonly HelpPage[]): Section[] {
  return pages.flatMap(({ name, title, blocks }) => {
    const sections: Section[] = [{ page: name, title, id: '', heading: '', text: '' }]
    for (const block of blocks)
      if (block.kind === 'heading')
        sections.push({ page: name, title, id: block.id, heading: plainText(block.content), text: '' })
      else sections.at(-1)!.text += `${plainText([block])} `
    return sections
  })
}

/** Sections with every word of `query`, those with it in the title or the heading first. */
export function search(sections: readonly Section[], query: string): Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const rated = sections.flatMap((section) => {
    const [title, heading, text] = [section.title, section.heading, section.text].map((part) => part.toLowerCase())
    const all = `${title} ${heading} ${text}`
    if (!words.every((word) => all.includes(word))) return []
    const rating = words.reduce(
      (sum, word) =>
        sum + (title!.includes(word) ? 4 : 0) + (heading!.includes(word) ? 3 : 0) + (text!.includes(word) ? 1 : 0),
      0,
    )
    return [{ section, rating }]
  })
  return rated
    .toSorted((a, b) => b.rating - a.rating)
    .slice(0, FOUND_MAX)
    .map(({ section }) => ({ ...section, excerpt: excerptOf(section.text, words) }))
}

/** The text around the first match. */
function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase()
  const at = Math.min(...words.map((word) => lower.indexOf(word)).filter((index) => index >= 0))
  const start = Number.isFinite(at) ? Math.max(0, lower.lastIndexOf(' ', Math.max(0, at - EXCERPT_LENGTH / 4)) + 1) : 0
  const part = text.slice(start, start + EXCERPT_LENGTH).trim()
  return `${start > 0 ? '… ' : ''}${part}${start + EXCERPT_LENGTH < text.length ? ' …' : ''}`
}
