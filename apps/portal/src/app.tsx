/**
 * A visitor's page, which comes with its form from the hub and needs no router; after the sign-in, the portal. The
 * build draws the same pages into the files that the hub serves (visitor-pages.tsx).
 */
import {
  Component,
  createContext,
  lazy,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useState,
  type ReactNode,
} from 'react'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { Kit } from '@hedgerow/ui/kit.tsx'
import { SessionProvider } from '#api/session.tsx'
import { RegisterPage, type RegistrationInfo } from './features/register/page.tsx'
import { PageFailure } from './features/shell/page-failure.tsx'
import { SignInPage } from './features/sign-in/page.tsx'
import { mayReload, reloadOnceAnswered } from './reload-when-updated.ts'

/** The pages of visitors by the names of their files; what the registration needs is known by the page. */
export const VISITOR_PAGES = {
  login: undefined,
  register: { openRegistration: true, inviteCodeRequired: true },
  'register-open': { openRegistration: true, inviteCodeRequired: false },
  'register-closed': { openRegistration: false, inviteCodeRequired: true },
} as const satisfies Record<string, RegistrationInfo | undefined>

export type VisitorPage = keyof typeof VISITOR_PAGES

export const isVisitorPage = (name: string | undefined): name is VisitorPage =>
  name !== undefined && name in VISITOR_PAGES

export const loadPortal = () => import('./portal.tsx')
const Portal = lazy(loadPortal)

const OpenPortal = createContext((_path: string): void => undefined)

/** Without a `page`, the portal. */
export function App({ page }: { page: VisitorPage | undefined }) {
  return (
    <Kit>
      <WhenFailed>
        <SessionProvider>
          <Place page={page} />
        </SessionProvider>
      </WhenFailed>
    </Kit>
  )
}

function Place({ page }: { page: VisitorPage | undefined }) {
  // The portal stays once it is open: it shows its own sign-in page when the session ends, and keeps drafts.
  const [entered, setEntered] = useState(page === undefined)
  const open = useCallback((path: string) => {
    history.replaceState(null, '', path)
    setEntered(true)
  }, [])
  if (entered || page === undefined)
    return (
      <Suspense fallback={<CentredSpinner />}>
        <Portal />
      </Suspense>
    )
  return (
    <OpenPortal value={open}>
      <SendEarlyForm />
      {page === 'login' ? <SignInPage Enter={Enter} /> : <RegisterPage expected={VISITOR_PAGES[page]} Enter={Enter} />}
    </OpenPortal>
  )
}

function Enter({ to }: { to: string }) {
  const open = useContext(OpenPortal)
  useLayoutEffect(() => open(to), [open, to])
  return <CentredSpinner />
}

/** Sends a form again that the person sent before this script was there; color-scheme.js held it. */
function SendEarlyForm() {
  useEffect(() => {
    const { dataset } = document.documentElement
    dataset['ready'] = ''
    if (dataset['sent'] !== undefined) document.querySelector('form')?.requestSubmit()
    addEventListener('input', loadNextScreen, { once: true })
    return () => removeEventListener('input', loadNextScreen)
  }, [])
  return null
}

/** While the person types. If it fails, the sign-in tries again. */
function loadNextScreen(): void {
  const parts = [
    loadPortal(),
    import('./features/shell/layout.tsx'),
    import('./features/command-palette/command-palette.tsx'),
    import('./features/gateways/list/page.tsx'),
  ]
  Promise.all(parts).catch(() => undefined)
}

/** Shows a failure outside of the portal's routes, most likely of code that did not load. */
class WhenFailed extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {}
  static getDerivedStateFromError = (error: unknown) => ({ error })
  override render() {
    if (!('error' in this.state)) return this.props.children
    return <PageFailure error={this.state.error} recover={mayReload() ? reloadOnceAnswered : undefined} />
  }
}
