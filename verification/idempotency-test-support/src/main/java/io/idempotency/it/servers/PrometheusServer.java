package io.idempotency.it.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static org.awaitility.Awaitility.await;

/**
 * The Prometheus of the system, on a free port of the loopback interface. It scrapes each
 * target once a second, and evaluates its rules as often.
 */
public final class PrometheusServer implements AutoCloseable {

	private final int port = FreePorts.next();

	private final HttpClient client = HttpClient.newHttpClient();

	private final Path log;

	private final ServerProcess process;

	/**
	 * Starts the server.
	 * @param rules the file of the rules to evaluate
	 * @param targets the ports to scrape, by the names of their jobs
	 */
	public PrometheusServer(Path rules, Map<String, Integer> targets) {
		try {
			Path parent = ServerArchive.TARGET.resolve("servers");
			Files.createDirectories(parent);
			Path directory = Files.createTempDirectory(parent, "prometheus-" + this.port + "-");
			StringBuilder configuration = new StringBuilder("""
					global: {scrape_interval: 1s, evaluation_interval: 1s}
					rule_files: ['%s']
					scrape_configs:
					""".formatted(rules.toAbsolutePath()));
			targets.forEach((job, target) -> configuration.append(
					"- {job_name: %s, metrics_path: /actuator/prometheus, static_configs: [{targets: ['127.0.0.1:%d']}]}%n"
						.formatted(job, target)));
			Path file = Files.writeString(directory.resolve("prometheus.yml"), configuration);
			this.log = directory.resolve("log");
			this.process = ServerProcess.start(List.of(Backend.prometheus("prometheus").toString(),
					"--config.file=" + file, "--storage.tsdb.path=" + directory.resolve("data"),
					"--web.listen-address=127.0.0.1:" + this.port), this.log);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		await().alias(this.log.toString()).atMost(Duration.ofSeconds(60)).until(this::isReady);
	}

	private boolean isReady() {
		if (this.process.hasEnded()) {
			throw new IllegalStateException("Prometheus has ended: " + this.process.logTail());
		}
		try {
			return get("/-/ready").statusCode() == 200;
		}
		catch (UncheckedIOException ex) {
			return false;
		}
	}

	/**
	 * Asks for the value of an expression at this moment.
	 * @param expression the expression
	 * @return the answer, as JSON
	 */
	public String query(String expression) {
		HttpResponse<String> answer = get(
				"/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8));
		if (answer.statusCode() != 200) {
			throw new IllegalArgumentException(expression + ": " + answer.body());
		}
		return answer.body();
	}

	private HttpResponse<String> get(String path) {
		try {
			return this.client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.port + path)).build(),
					HttpResponse.BodyHandlers.ofString());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted", ex);
		}
	}

	/**
	 * Runs promtool.
	 * @param arguments its arguments
	 * @return what it printed
	 * @throws IllegalStateException if it found a fault
	 */
	public static String promtool(String... arguments) {
		try {
			List<String> command = new ArrayList<>(List.of(Backend.prometheus("promtool").toString()));
			command.addAll(List.of(arguments));
			Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			if (process.waitFor() != 0) {
				throw new IllegalStateException(output);
			}
			return output;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted", ex);
		}
	}

	@Override
	public void close() {
		this.process.close();
	}

}
