package io.idempotency.store.r2dbc;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.store.IdempotencyStore;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Starts an application without jars that are optional. A filtered class loader would
 * still link the classes of its parent.
 */
class OptionalJarsTests {

	@ParameterizedTest
	@ValueSource(strings = { "spring-jdbc.*|HikariCP.*", "spring-jdbc.*|HikariCP.*|spring-r2dbc.*|r2dbc-pool.*" })
	void guardsMethodWithoutJdbcJars(String missing) throws Exception {
		List<URL> urls = new ArrayList<>();
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			File file = new File(entry);
			if (!file.getName().matches(missing)) {
				urls.add(file.toURI().toURL());
			}
		}
		Thread thread = Thread.currentThread();
		ClassLoader before = thread.getContextClassLoader();
		try (URLClassLoader classLoader = new URLClassLoader(urls.toArray(URL[]::new),
				ClassLoader.getPlatformClassLoader())) {
			thread.setContextClassLoader(classLoader);
			assertThat(classLoader.loadClass(Application.class.getName()).getDeclaredMethod("run").invoke(null))
				.isEqualTo("r2dbc 1");
		}
		finally {
			thread.setContextClassLoader(before);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ R2dbcStoreAutoConfiguration.class, IdempotencyAutoConfiguration.class,
			R2dbcBesideJdbcAutoConfiguration.class })
	public static class Application {

		@Bean
		ConnectionFactory connections() {
			return ConnectionFactories.get("r2dbc:h2:mem:///optional-jars?options=DB_CLOSE_DELAY=-1");
		}

		@Bean
		Cancellations cancellations() {
			return new Cancellations();
		}

		public static String run() {
			try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
				.web(WebApplicationType.NONE)
				.properties("logging.level.root=off", "spring.main.banner-mode=off",
						"spring.main.register-shutdown-hook=false")
				.run()) {
				Cancellations cancellations = context.getBean(Cancellations.class);
				cancellations.cancel("7");
				cancellations.cancel("7");
				return context.getBean(IdempotencyStore.class).type() + " " + cancellations.runs();
			}
		}

	}

	public static class Cancellations {

		private final AtomicInteger runs = new AtomicInteger();

		@Idempotent("#orderId")
		public void cancel(String orderId) {
			this.runs.incrementAndGet();
		}

		public int runs() {
			return this.runs.get();
		}

	}

}
