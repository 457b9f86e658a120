import type Docker from 'dockerode';

/** An image's inspect, by name or id. dockerode's own function ignores abort signals. */
export function inspectImage(docker: Docker, image: string, abortSignal: AbortSignal): Promise<unknown> {
  const request = {
    path: `/images/${image}/json`,
    method: 'GET',
    abortSignal,
    statusCodes: { 200: true, 404: 'no such image', 500: 'server error' },
  };
  return new Promise((resolve, reject) => {
    docker.modem.dial(request, (error, body) => (error ? reject(error) : resolve(body)));
  });
}
