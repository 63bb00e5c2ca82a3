import { Refusal } from '../../calls/errors.ts'

/** Searches of a network, one at a time. */
export function oneAtATime<Input extends unknown[], Found>(
  search: (...input: Input) => Promise<Found>,
): (...input: Input) => Promise<Found> {
  let isSearching = false
  return async (...input) => {
    if (isSearching) throw new Refusal('too_many_requests', { message: 'A search is under way. Wait for its end.' })
    isSearching = true
    try {
      return await search(...input)
    } finally {
      isSearching = false
    }
  }
}
