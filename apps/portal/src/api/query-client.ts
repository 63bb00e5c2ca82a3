import { QueryClient } from '@tanstack/react-query'

/**
 * One per signed-in session, so that nobody sees what the one before them has fetched. No retries of its own:
 * polling comes round again, and a person who waits wants the error and a button, not a longer skeleton. `always`,
 * because a hub on a local network answers without any internet.
 */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: { retry: false, networkMode: 'always', staleTime: 5_000 },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
