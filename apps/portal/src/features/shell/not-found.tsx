import { Button } from '@mantine/core'
import { Link, useLocation } from 'react-router'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { NotFoundPage } from './not-found-page.tsx'

/** For every address that no screen has. */
export function NotFound() {
  const { pathname } = useLocation()
  return (
    <NotFoundPage title="Nothing grows here">
      <p>
        There is no page at <Mono>{pathname}</Mono>. It may have moved, or the link may be missing a piece.
      </p>
      <Button component={Link} to="/">
        Back to the hub
      </Button>
    </NotFoundPage>
  )
}
