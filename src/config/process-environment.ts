/** The environment of this process. Use it only to start other processes and to find out how this one was started: settings are in `Config`. */
export const processEnvironment: Readonly<NodeJS.ProcessEnv> = process.env
