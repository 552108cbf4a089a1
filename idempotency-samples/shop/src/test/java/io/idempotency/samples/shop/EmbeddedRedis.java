package io.idempotency.samples.shop;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Objects;

import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

import static org.awaitility.Awaitility.await;

/**
 * Starts a real Redis before the shop. It is the child of a shell that waits for the end
 * of its input and kills it then, so that it ends with this JVM however that ends.
 */
public final class EmbeddedRedis implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	private static final String GUARD = "\"$@\" </dev/null >/dev/null & cat >/dev/null; kill -9 $!";

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		try {
			int port = freePort();
			Process guard = new ProcessBuilder("sh", "-c", GUARD, "guard", executable().toString(), "--port",
					Integer.toString(port), "--bind", "127.0.0.1", "--save", "")
				.redirectError(ProcessBuilder.Redirect.INHERIT)
				.start();
			context.getBeanFactory().registerSingleton("embeddedRedis", guard);
			await().atMost(Duration.ofSeconds(30)).until(() -> guard.isAlive() && answers(port));
			TestPropertyValues.of("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + port)
				.applyTo(context);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Path executable() throws IOException {
		String architecture = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
		String resource = "/redis-server-7.0.15-linux-" + architecture;
		Path file = Path.of("target", "redis-server").toAbsolutePath();
		try (InputStream binary = EmbeddedRedis.class.getResourceAsStream(resource)) {
			Files.copy(Objects.requireNonNull(binary, resource), file, StandardCopyOption.REPLACE_EXISTING);
		}
		if (!file.toFile().setExecutable(true)) {
			throw new IOException("Cannot make " + file + " executable");
		}
		return file;
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	private static boolean answers(int port) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
			socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readNBytes(7), StandardCharsets.US_ASCII).equals("+PONG\r\n");
		}
		catch (IOException notYet) {
			return false;
		}
	}

}
