/** The screens of the device's own interface. Each is its own chunk. */
import type { RouteObject } from 'react-router'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { Frame } from './frame.tsx'

export const routes: RouteObject[] = [
  {
    HydrateFallback: () => <CentredSpinner title="Gateway" />,
    children: [
      { path: '/sign-in', lazy: async () => ({ Component: (await import('./screens/sign-in.tsx')).SignInScreen }) },
      {
        Component: Frame,
        children: [
          { path: '/', lazy: async () => ({ Component: (await import('./screens/now.tsx')).NowScreen }) },
          {
            path: '/detections',
            lazy: async () => ({ Component: (await import('./screens/detections.tsx')).DetectionsScreen }),
          },
          {
            path: '/deterrents',
            lazy: async () => ({ Component: (await import('./screens/deterrents.tsx')).DeterrentsScreen }),
          },
          {
            path: '/add-deterrent',
            lazy: async () => ({ Component: (await import('./screens/deterrent-form.tsx')).AddDeterrentScreen }),
          },
          {
            path: '/deterrents/:name',
            lazy: async () => ({ Component: (await import('./screens/deterrent-form.tsx')).EditDeterrentScreen }),
          },
          { path: '/rules', lazy: async () => ({ Component: (await import('./screens/rules.tsx')).RulesScreen }) },
          {
            path: '/add-camera',
            lazy: async () => ({ Component: (await import('./screens/add-camera.tsx')).AddCameraScreen }),
          },
          {
            path: '/cameras/:name',
            lazy: async () => ({ Component: (await import('./screens/camera.tsx')).CameraScreen }),
          },
          {
            path: '/learning',
            lazy: async () => ({ Component: (await import('./screens/learning.tsx')).LearningScreen }),
          },
          {
            path: '/configuration',
            lazy: async () => ({ Component: (await import('./screens/configuration.tsx')).ConfigurationScreen }),
          },
          {
            path: '/configuration/sources',
            lazy: async () => ({ Component: (await import('./screens/sources.tsx')).SourcesScreen }),
          },
        ],
      },
    ],
  },
]
