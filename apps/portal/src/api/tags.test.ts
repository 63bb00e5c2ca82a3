import { expect, it } from 'vitest'
import { countTags, tagOptions, tagsIn } from './tags.ts'

it('tags are typed with commas or spaces between them, each once, in any case', () => {
  expect(tagsIn(' North, orchard  north,,')).toEqual(['north', 'orchard'])
  expect(tagsIn(' , ')).toEqual([])
})

it('a list of tags has their numbers, and keeps a chosen one that no gateway has', () => {
  const counts = countTags([{ tags: ['north', 'orchard'] }, { tags: ['north'] }, { tags: [] }])
  expect(tagOptions(counts, 'south')).toEqual([
    ['', 'Any tag'],
    ['north', 'north (2)'],
    ['orchard', 'orchard (1)'],
    ['south', 'south (0)'],
  ])
})
