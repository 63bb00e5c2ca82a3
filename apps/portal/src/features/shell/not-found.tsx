import { Button } from '@mantine/core'
import { Link, useLocation } from 'react-router'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { NotFoundPage } from './not-found-page.tsx'

/** The page for addresses without a screen. */
export function NotFound() {
  const { pathname } = useLocation()
  return (
    <NotFoundPage title="Page not found">
      <p>
        There is no page at <Mono>{pathname}</Mono>. It may have moved, or the link may be incomplete.
      </p>
      <Button component={Link} to="/">
        Back to the hub
      </Button>
    </NotFoundPage>
  )
}
