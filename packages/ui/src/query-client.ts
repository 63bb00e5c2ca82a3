import { QueryClient, type QueryClientConfig } from '@tanstack/react-query'

/**
 * One per session, so that nobody sees the data of the previous person. No retries: polling repeats anyway, and a
 * waiting person needs the error and a button, not a longer skeleton. `always`, because a hub on a local network needs
 * no internet.
 */
export const createQueryClient = (caches: Pick<QueryClientConfig, 'queryCache' | 'mutationCache'> = {}): QueryClient =>
  new QueryClient({
    ...caches,
    defaultOptions: {
      queries: { retry: false, networkMode: 'always', staleTime: 5_000 },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
