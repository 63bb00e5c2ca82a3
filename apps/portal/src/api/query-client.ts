import { QueryClient } from '@tanstack/react-query'

/**
 * One per session, so that nobody sees the data of the person before. No retries: polling repeats anyway, and a waiting
 * person needs the error and a button, not a longer skeleton. `always`, because a hub on a local network answers
 * without internet.
 */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: { retry: false, networkMode: 'always', staleTime: 5_000 },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
