import { EXPORT_DETECTIONS_MAX } from '@hedgerow/contract/constants'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { exportIncidents } from 'virtual:contract-calls'
import { messageOf, send } from '#api/client.ts'
import { saveFile } from '@hedgerow/ui/save-file.ts'
import { toast } from '@hedgerow/ui/toast.tsx'
import { queryOf, type Filter } from './filter.ts'

/** Downloads the filter's detections as one ZIP: pictures, a table, and COCO JSON for training. */
export function ExportButton({ filter }: { filter: Filter }) {
  const { mutate, isPending } = useMutation({
    mutationFn: async () => (await send(exportIncidents, { query: queryOf(filter) }, 'application/zip')).blob(),
    onSuccess: (zip) => saveFile(zip, 'threats.zip'),
    onError: (error) => void toast(messageOf(error)),
  })
  return (
    <Button
      variant="default"
      loading={isPending}
      title={
        `Pictures, CSV and COCO JSON of what is shown, at most ${EXPORT_DETECTIONS_MAX.toLocaleString()} ` +
        'detections'
      }
      onClick={() => mutate()}
    >
      Export
    </Button>
  )
}
