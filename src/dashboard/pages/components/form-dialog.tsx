/** A dialog that confirms an action or asks for its input. */
import { Dialog } from './dialog.tsx'
import { Button } from './elements.tsx'
import { Form, type FormProps } from './form.tsx'
import { Picker } from './picker.tsx'

/** The content of a dialog. Without fields, it asks to confirm a destructive action. */
export interface DialogContent extends Pick<FormProps, 'text' | 'fields' | 'toBody'> {
  title: string
  /** The label of the submit button. Defaults to the title. */
  action?: string
}

interface FormDialogProps extends DialogContent {
  sending: FormProps['sending']
  onClose(): void
}

export function FormDialog({ title, action = title, onClose, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form} Picker={Picker}>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={form.fields ? 'primary' : 'danger'} disabled={form.sending.isPending}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
