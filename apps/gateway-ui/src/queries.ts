import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type QueryClient,
} from '@tanstack/react-query'
import { deviceCalls } from 'virtual:device-calls'
import type { BodyOf, DisarmTime, ResponseOf, SnoozeKind, SnoozeLasts } from '@hedgerow/contract'
import type { DeviceSession } from '@hedgerow/contract/device-interface'
import { createQueryClient } from '@hedgerow/ui/query-client.ts'
import { ask, checkClip, DeviceError } from './calls.ts'

const STATUS_REFRESH_MS = 3_000
const CLIP_REFRESH_MS = 3_000

/**
 * When a call finds that the session has ended, the sign-in appears. When a call took the device's password, the device
 * keeps that for the visit; when it no longer does, the field for the password is back.
 */
export function createDeviceQueries(): QueryClient {
  const setConfirmed = (confirmed: boolean) =>
    queries.setQueryData<DeviceSession | null>(SESSION, (session) => session && { ...session, confirmed })
  const queries: QueryClient = createQueryClient({
    queryCache: new QueryCache({
      onError(error) {
        if (error instanceof DeviceError && error.code === 'not_signed_in') queries.setQueryData(SESSION, null)
      },
    }),
    mutationCache: new MutationCache({
      onSuccess(_answer, sent) {
        if (typeof sent === 'object' && sent !== null && 'password' in sent) setConfirmed(true)
      },
      onError(error) {
        if (error instanceof DeviceError && error.code === 'password_required') setConfirmed(false)
      },
    }),
  })
  return queries
}

const SESSION = ['session']

/** Null: nobody is signed in. */
export const useSession = () =>
  useQuery<DeviceSession | null>({
    queryKey: SESSION,
    async queryFn({ signal }) {
      try {
        return await ask(deviceCalls.getSession, { signal })
      } catch (error) {
        if (error instanceof DeviceError && error.code === 'not_signed_in') return null
        throw error
      }
    },
    staleTime: Infinity,
  })

export function useSignIn() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (password: string) => ask(deviceCalls.signIn, { body: { password } }),
    onSuccess: (session) => queries.setQueryData(SESSION, session),
  })
}

export function useSignOut() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => ask(deviceCalls.signOut, {}),
    onSuccess() {
      queries.clear()
      queries.setQueryData(SESSION, null)
    },
  })
}

const STATUS = ['status']

export const useStatus = (isSignedIn = true) =>
  useQuery({
    queryKey: STATUS,
    queryFn: ({ signal }) => ask(deviceCalls.getStatus, { signal }),
    enabled: isSignedIn,
    refetchInterval: STATUS_REFRESH_MS,
  })

export type Order =
  | { action: 'arm' }
  | { action: 'disarm'; lasts?: DisarmTime }
  | { action: 'snooze'; kind: SnoozeKind; camera?: string; lasts: SnoozeLasts }
  | { action: 'end-snooze'; kind: SnoozeKind; camera?: string }
  | { action: 'fire'; deterrent: string }
  | { action: 'stop'; deterrent: string }

/** Resolves when the device has carried it out, or rejects with its refusal. */
export function useOrder() {
  const queries = useQueryClient()
  return useMutation({
    async mutationFn(order: Order): Promise<void> {
      if (order.action === 'fire') await ask(deviceCalls.fireDeterrent, { params: { name: order.deterrent }, body: {} })
      else if (order.action === 'stop') await ask(deviceCalls.stopDeterrent, { params: { name: order.deterrent } })
      else if (order.action === 'arm') await ask(deviceCalls.arm, {})
      else if (order.action === 'snooze') {
        const { kind, camera, lasts } = order
        if (kind === 'maintenance') await ask(deviceCalls.maintain, { body: { lasts } })
        else await ask(deviceCalls.snooze, { body: { lasts, ...(camera !== undefined && { camera }) } })
      } else if (order.action === 'end-snooze') {
        const { kind, camera } = order
        if (kind === 'maintenance') await ask(deviceCalls.endMaintenance, {})
        else await ask(deviceCalls.endSnooze, { body: camera === undefined ? {} : { camera } })
      } else await ask(deviceCalls.disarm, { query: order.lasts === undefined ? {} : { lasts: order.lasts } })
    },
    onSettled: () => queries.invalidateQueries({ predicate: ({ queryKey }) => !KEPT.has(queryKey[0]) }),
  })
}

const LIST_REFRESH_MS = 10_000
const PAGE_SIZE = 60

export type SeenDetection = ResponseOf<typeof deviceCalls.listDetections>[number]

export type DetectionFilter = {
  /** Empty for all cameras. */
  camera: string
  learning: '' | 'hidden' | 'doubtful'
}

export const useDetections = ({ camera, learning }: DetectionFilter) =>
  useInfiniteQuery({
    queryKey: ['detections', camera, learning],
    queryFn: ({ pageParam, signal }) =>
      ask(deviceCalls.listDetections, {
        query: {
          limit: PAGE_SIZE,
          ...(camera !== '' && { camera }),
          ...(learning !== '' && { learning }),
          ...(pageParam !== undefined && { before: pageParam }),
        },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page.length < PAGE_SIZE ? undefined : page.at(-1)?.startedAt),
    refetchInterval: LIST_REFRESH_MS,
    placeholderData: keepPreviousData,
  })

export const useLedger = () =>
  useQuery({
    queryKey: ['ledger'],
    queryFn: ({ signal }) => ask(deviceCalls.listLedger, { query: { limit: PAGE_SIZE }, signal }),
    refetchInterval: LIST_REFRESH_MS,
  })

export const useRules = () =>
  useQuery({ queryKey: ['rules'], queryFn: ({ signal }) => ask(deviceCalls.readRules, { signal }) })

export const useRuleTest = () =>
  useQuery({ queryKey: ['rule-test'], queryFn: ({ signal }) => ask(deviceCalls.testRules, { signal }) })

/** While the device works on something. */
const STEP_REFRESH_MS = 1_000

const LEARNING = ['learning']

export const useLearning = () =>
  useQuery({
    queryKey: LEARNING,
    queryFn: ({ signal }) => ask(deviceCalls.readLearning, { signal }),
    refetchInterval: ({ state }) => state.data?.state === 'running' && STEP_REFRESH_MS,
  })

function useLearningChange<Wanted, Answer>(mutationFn: (wanted: Wanted) => Promise<Answer>) {
  const queries = useQueryClient()
  return useMutation({ mutationFn, onSettled: () => queries.invalidateQueries({ queryKey: LEARNING }) })
}

export const useUndoLearning = () =>
  useLearningChange((body: BodyOf<typeof deviceCalls.undoLearning>) => ask(deviceCalls.undoLearning, { body }))

export const useLearnNow = () => useLearningChange(() => ask(deviceCalls.learnNow, {}))

export const useUndoNames = () =>
  useLearningChange((number: number) => ask(deviceCalls.undoNames, { body: { number } }))

export const useDismissMask = () =>
  useLearningChange((body: BodyOf<typeof deviceCalls.dismissMask>) => ask(deviceCalls.dismissMask, { body }))

const CAMERA = 'camera'

/** For whoever left the screen before the answer came, its data is read again: the file may have changed by then. */
const ifShown =
  <T>(saved: T) =>
  (shown?: T): T | undefined =>
    shown && saved

/** Not refetched by itself, because that would drop a person's drawing. */
export const useCamera = (name: string) =>
  useQuery({
    queryKey: [CAMERA, name],
    queryFn: ({ signal }) => ask(deviceCalls.readCamera, { params: { name }, signal }),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnReconnect: false,
  })

export function useChangeCamera(name: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<typeof deviceCalls.changeCamera>) =>
      ask(deviceCalls.changeCamera, { params: { name }, body }),
    async onSuccess(settings) {
      queries.setQueryData([CAMERA, name], ifShown(settings))
      await queries.invalidateQueries({ predicate: ({ queryKey }) => !KEPT.has(queryKey[0]) })
    },
  })
}

export const useCandidates = (name: string) =>
  useQuery({
    queryKey: ['candidates', name],
    queryFn: ({ signal }) => ask(deviceCalls.listCandidates, { params: { name }, signal }),
  })

export function useAcceptView(name: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => ask(deviceCalls.acceptView, { params: { name } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: STATUS }),
  })
}

export function useLookAtOverlays(name: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => ask(deviceCalls.lookAtOverlays, { params: { name } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: STATUS }),
  })
}

export const useTryCamera = () =>
  useMutation({
    mutationFn: (body: BodyOf<typeof deviceCalls.tryCamera>) => ask(deviceCalls.tryCamera, { body }),
  })

const TRIAL_REFRESH_MS = 1_000

/** Each request keeps the trial going. */
export const useTrial = (id: string) =>
  useQuery({
    queryKey: ['trial', id],
    queryFn: ({ signal }) => ask(deviceCalls.readTrial, { params: { id }, signal }),
    refetchInterval: ({ state: { error } }) => (error === null ? TRIAL_REFRESH_MS : false),
    retry: false,
  })

export const useFindCameras = () =>
  useMutation({
    mutationFn: (body: BodyOf<typeof deviceCalls.findCameras>) => ask(deviceCalls.findCameras, { body }),
  })

/** Adds to the current file: a new camera conflicts with no other change. */
export function useAddCamera() {
  const queries = useQueryClient()
  return useMutation({
    async mutationFn(body: Omit<BodyOf<typeof deviceCalls.addCamera>, 'hash'>) {
      const { hash } = await ask(deviceCalls.readFile, {})
      return ask(deviceCalls.addCamera, { body: { ...body, hash } })
    },
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey }) => !KEPT.has(queryKey[0]) }),
  })
}

const FILE = ['file']

/** Not refetched by itself, because that would drop a person's text. */
export const useFile = () =>
  useQuery({
    queryKey: FILE,
    queryFn: ({ signal }) => ask(deviceCalls.readFile, { signal }),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnReconnect: false,
  })

/** It stays the same until the device has another version. */
export const useFileSchema = () =>
  useQuery({
    queryKey: ['file-schema'],
    queryFn: ({ signal }) => ask(deviceCalls.readFileSchema, { signal }),
    staleTime: Infinity,
  })

export const useFileCheck = (text: string) =>
  useQuery({
    queryKey: ['file-check', text],
    queryFn: ({ signal }) => ask(deviceCalls.checkFile, { body: { text }, signal }),
    placeholderData: keepPreviousData,
    gcTime: 0,
  })

export function useSaveFile() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<typeof deviceCalls.saveFile>) => ask(deviceCalls.saveFile, { body }),
    async onSuccess({ hash }, { text }) {
      queries.setQueryData(FILE, ifShown({ text, hash }))
      await queries.invalidateQueries({ predicate: ({ queryKey }) => !KEPT.has(queryKey[0]) })
    },
  })
}

const DETECTOR = ['detector']

export const useDetector = () =>
  useQuery({
    queryKey: DETECTOR,
    queryFn: ({ signal }) => ask(deviceCalls.readDetector, { signal }),
    refetchInterval: ({ state: { data } }) => (data?.step ? STEP_REFRESH_MS : false),
  })

export function useAddDetector() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<typeof deviceCalls.addDetector>) => ask(deviceCalls.addDetector, { body }),
    onSuccess: (state) => queries.setQueryData(DETECTOR, state),
  })
}

export function useChooseDetector() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<typeof deviceCalls.chooseDetector>) => ask(deviceCalls.chooseDetector, { body }),
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey }) => !KEPT.has(queryKey[0]) }),
  })
}

export const KEPT: ReadonlySet<unknown> = new Set([...SESSION, ...FILE, 'file-check', 'file-schema', 'preview', CAMERA])

/** Whether there is a clip; polled while it is being made. */
export const useClip = (id: string) =>
  useQuery({
    queryKey: ['clip', id],
    queryFn: ({ signal }) => checkClip(id, signal),
    gcTime: 0,
    retry: false,
    refetchInterval: ({ state: { error } }) =>
      error instanceof DeviceError && error.code === 'clip_not_finished' ? CLIP_REFRESH_MS : false,
  })
