package io.idempotency.it.webflux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.scheduler.Schedulers;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.codec.multipart.DefaultPartHttpMessageReader;
import org.springframework.web.reactive.config.WebFluxConfigurer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Parts that are so large that they are files for a while. */
class PartsTests {

	@TempDir
	private static Path files;

	private static ConfigurableApplicationContext application;

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		application = new SpringApplicationBuilder(WebFluxApplication.class, Writers.class).registerShutdownHook(false)
			.run("--server.port=0", "--spring.webflux.multipart.file-storage-directory=" + files,
					"--spring.webflux.multipart.max-in-memory-size=1KB");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	private Answer send(String end) {
		Client client = new Client(application.getEnvironment().getRequiredProperty("local.server.port", int.class));
		String body = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n"
				+ "x".repeat(100_000) + "\r\n--b" + end;
		return client.post("/upload", this.key, "multipart/form-data; boundary=b", body);
	}

	private static long count() throws IOException {
		try (Stream<Path> all = Files.list(files)) {
			return all.count();
		}
	}

	@Test
	void noFileIsLeftOfAnAnsweredRequest() {
		assertThat(send("--\r\n").text()).startsWith("f.txt 100000 run");
		assertThat(send("--\r\n").replayed()).isTrue();
		await().until(() -> count() == 0);
	}

	/** The reader of Spring leaves the file of a part if a later one cannot be read. */
	@Test
	void noFileIsMadeOfARequestThatCannotBeRead() throws IOException {
		int written = Writers.TASKS.get();
		assertThat(send("\r\nContent-Disposition: form-data; name=\"broken\"\r\n\r\nhalf").status()).isIn(400, 500);
		assertThat(Writers.TASKS).hasValue(written);
		assertThat(count()).isZero();
		assertThat(send("--\r\n").status()).as("no key is used").isEqualTo(200);
		await().until(() -> count() == 0);
	}

	/** Spring's parser recurses for each part that is in one buffer. */
	@Test
	void manySmallPartsReachTheHandler() {
		Client client = new Client(application.getEnvironment().getRequiredProperty("local.server.port", int.class));
		StringBuilder body = new StringBuilder(
				"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nxyz");
		for (int i = 0; i < 4_000; i++) {
			body.append("\r\n--b\r\nContent-Disposition: form-data; name=\"p").append(i).append("\"\r\n\r\n").append(i);
		}
		Answer first = client.post("/upload", this.key, "multipart/form-data; boundary=b", body + "\r\n--b--\r\n");
		assertThat(first.text()).startsWith("f 3 run");
		Answer second = client.post("/upload", this.key, "multipart/form-data; boundary=b", body + "\r\n--b--\r\n");
		assertThat(second.replayed()).isTrue();
	}

	/** Counts what the threads that write and delete files are asked for. */
	static class Writers implements WebFluxConfigurer, DisposableBean {

		private static final AtomicInteger TASKS = new AtomicInteger();

		private final ExecutorService threads = Executors.newSingleThreadExecutor();

		@Override
		public void configureHttpMessageCodecs(ServerCodecConfigurer configurer) {
			configurer.defaultCodecs().configureDefaultCodec((codec) -> {
				if (codec instanceof DefaultPartHttpMessageReader reader) {
					reader.setBlockingOperationScheduler(Schedulers.fromExecutor((task) -> {
						TASKS.incrementAndGet();
						this.threads.execute(task);
					}));
				}
			});
		}

		@Override
		public void destroy() {
			this.threads.shutdown();
		}

	}

}
