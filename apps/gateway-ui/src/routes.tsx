/** The screens of the device's own interface. Each is its own chunk. */
import type { RouteObject } from 'react-router'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { Frame } from './frame.tsx'
import { NowScreen } from './screens/now.tsx'
import { SignInScreen } from './screens/sign-in.tsx'

export const routes: RouteObject[] = [
  {
    HydrateFallback: CentredSpinner,
    children: [
      { path: '/sign-in', Component: SignInScreen },
      {
        Component: Frame,
        children: [{ path: '/', Component: NowScreen }],
      },
    ],
  },
]
