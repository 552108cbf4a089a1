package io.idempotency.benchmarks.load;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The application, and the client that puts it under load. */
final class LoadedServer implements AutoCloseable {

	private final OtherProcess server;

	private final OtherProcess client;

	private final URL meter;

	private LoadedServer(OtherProcess server, OtherProcess client, URL meter) {
		this.server = server;
		this.client = client;
		this.meter = meter;
	}

	static LoadedServer start(List<String> arguments, int connections, String bodySize) throws IOException {
		OtherProcess server = OtherProcess.java(LoadApplication.class, arguments);
		String port = server.lineWith("port ").substring("port ".length());
		OtherProcess client = OtherProcess.java(LoadClient.class,
				List.of(port, Integer.toString(connections), bodySize));
		return new LoadedServer(server, client, URI.create("http://127.0.0.1:" + port + "/meter").toURL());
	}

	Turn run(String order, long millis) throws IOException {
		long[] before = read();
		this.client.send(order + " " + millis);
		String[] answer = this.client.line().split(" ");
		long[] after = read();
		double requests = Double.parseDouble(answer[0]);
		return new Turn(requests / Double.parseDouble(answer[1]), (after[0] - before[0]) / requests,
				(after[1] - before[1]) / requests);
	}

	private long[] read() throws IOException {
		try (InputStream in = this.meter.openStream()) {
			String[] values = new String(in.readAllBytes(), StandardCharsets.US_ASCII).split(" ");
			return new long[] { Long.parseLong(values[0]), Long.parseLong(values[1]) };
		}
	}

	@Override
	public void close() {
		this.client.close();
		this.server.close();
	}

	/**
	 * What one variant did in its turn.
	 *
	 * @param rate requests for a unit of time
	 * @param cost the server's processor time for one request
	 * @param bytes what the server allocates for one request
	 */
	record Turn(double rate, double cost, double bytes) {
	}

}
