/** Forms write gateway.yaml value by value; the last save of a visit can be undone. */
import {
  keepPreviousData,
  useIsMutating,
  useMutation,
  useQuery,
  useQueryClient,
  type QueryClient,
} from '@tanstack/react-query'
import { useState } from 'react'
import { deviceCalls } from 'virtual:device-calls'
import type { BodyOf, ResponseOf } from '@hedgerow/contract'
import type { SettingsEdit } from '@hedgerow/contract/device-interface'
import { ask, DeviceError, messageOf } from './calls.ts'
import { KEPT } from './queries.ts'

export type Settings = ResponseOf<typeof deviceCalls.readSettings>

const SETTINGS = ['settings']
const UNDO = ['undo']

/** What is read of the device is read again, but not the texts and drawings that a person works on. */
const readAgain = (queries: QueryClient) =>
  queries.invalidateQueries({ predicate: ({ queryKey }) => !KEPT.has(queryKey[0]) && queryKey[0] !== UNDO[0] })

export const useSettings = (isAllowed = true) =>
  useQuery({
    queryKey: SETTINGS,
    queryFn: ({ signal }) => ask(deviceCalls.readSettings, { signal }),
    enabled: isAllowed,
    retry: false,
  })

/** Whether the file is being written or read by this page: what a form has of it now may be old in a moment. */
export const useIsFileBusy = () => {
  const isWriting = useIsMutating() > 0
  return useSettings(false).isFetching || isWriting
}

/**
 * The file that an open form is about. Another form of this page may still be saving when this one opens, so a newer
 * file is taken while the part that this form changes stays the same in it. Otherwise the save is refused, and the
 * person decides. `isSaving`: this form itself.
 */
export function useBase(latest: Settings, partOf: (settings: Settings) => unknown, isSaving: boolean) {
  const [base, setBase] = useState(latest)
  const [seen, setSeen] = useState(latest)
  if (seen !== latest) {
    setSeen(latest)
    if (!isSaving && JSON.stringify(partOf(latest)) === JSON.stringify(partOf(base))) setBase(latest)
  }
  return [base, setBase] as const
}

/** Saves edits, and remembers the text that they replace. */
export function useChangeSettings() {
  const queries = useQueryClient()
  return useMutation({
    async mutationFn(body: BodyOf<typeof deviceCalls.changeSettings>) {
      const { text } = await ask(deviceCalls.readFile, {})
      const { hash } = await ask(deviceCalls.changeSettings, { body })
      return { text, hash }
    },
    // The save before can be undone no longer, unless this one is refused.
    onMutate() {
      const before = queries.getQueryData(UNDO)
      queries.setQueryData(UNDO, null)
      return before
    },
    async onSuccess(undo) {
      await readAgain(queries)
      queries.setQueryData(UNDO, undo)
    },
    // Somebody else may have changed the file.
    async onError(_error, _body, before) {
      queries.setQueryData(UNDO, before)
      await readAgain(queries)
    },
  })
}

/** The text before the last save of this visit, and the hash of the text that it wrote. */
export const useUndo = () =>
  useQuery<{ text: string; hash: string } | null>({
    queryKey: UNDO,
    queryFn: () => null,
    initialData: null,
    staleTime: Infinity,
    gcTime: Infinity,
  })

export function useUndoSave() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<typeof deviceCalls.saveFile>) => ask(deviceCalls.saveFile, { body }),
    async onSuccess() {
      queries.setQueryData(UNDO, null)
      await readAgain(queries)
    },
  })
}

/** What the edits would mean; undefined edits are not asked about, and none while the file is busy. */
export const usePreview = (edits: SettingsEdit[] | undefined, hash: string, isBusy: boolean) =>
  useQuery({
    queryKey: ['preview', hash, edits],
    queryFn: ({ signal }) => ask(deviceCalls.previewSettings, { body: { edits: edits!, hash }, signal }),
    enabled: edits !== undefined && !isBusy,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  })

/** The sentence for the value at a path, or for a part of it. */
export function errorAt(error: unknown, path: SettingsEdit['path']): string | undefined {
  if (!(error instanceof DeviceError)) return undefined
  const at = path.join('.')
  return Object.entries(error.fieldErrors).find(([key]) => key === at || key.startsWith(`${at}.`))?.[1]
}

/**
 * The sentences of a refused save that no field of the form tells. `words` says where such a value is; undefined when
 * the form itself is about it.
 */
export function untold(
  error: unknown,
  isTold: (path: string) => boolean,
  words: (path: string) => string | undefined = elsewhere,
): string[] {
  if (error === null) return []
  const errors = error instanceof DeviceError ? Object.entries(error.fieldErrors) : []
  if (errors.length === 0) return [messageOf(error)]
  return errors.flatMap(([path, message]) => (isTold(path) ? [] : toldAt(words(path), message)))
}

export const toldAt = (place: string | undefined, message: string) =>
  place === undefined ? message : `${place}: ${message}`

/** A part of the file that the form does not show. */
export const elsewhere = (path: string) => (path === '' ? undefined : `In the file, at ${path.split('.').join(' › ')}`)
