package io.idempotency.autoconfigure;

import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.plain.PlainApplication;
import io.idempotency.autoconfigure.actuate.IdempotencyHealthAutoConfiguration;
import io.idempotency.autoconfigure.actuate.IdempotencyMetricsAutoConfiguration;
import io.idempotency.autoconfigure.actuate.IdempotencyObservationAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Starts an application with jars taken away for real: a filtered class loader still
 * links the classes of its parent.
 */
class OptionalJarsTests {

	@ParameterizedTest
	@ValueSource(strings = { "jackson-.*", "spring-web.*|tomcat-.*|jakarta.servlet.*", "spring-security-.*",
			"spring-tx.*|spring-jdbc.*|HikariCP.*|h2.*", "spring-data-.*", "idempotency-reactor",
			"idempotency-reactor|lettuce-.*|netty-.*|reactor-.*", "spring-boot-actuator-.*", "spring-webflux-.*",
			"micrometer-.*|spring-boot-actuator.*",
			"idempotency-reactor|jackson-.*|spring-web.*|tomcat-.*|jakarta.servlet.*|spring-security-.*|aspectjweaver.*|spring-tx.*"
					+ "|spring-jdbc.*|HikariCP.*|h2.*|spring-data-.*|lettuce-.*|netty-.*|reactor-.*" })
	void methodsAreGuardedWithoutJarsThatAreOptional(String missing) throws Exception {
		assertThat(runs(missing)).isEqualTo(1);
	}

	/** On the class path, Caffeine replaces the cache manager of the application. */
	@Test
	void starterDoesNotBringCaffeine() {
		assertThat(ClassUtils.isPresent("com.github.benmanes.caffeine.cache.Caffeine", getClass().getClassLoader()))
			.isFalse();
	}

	@Test
	void starterChangesNoAutoConfigurationOfSpringBoot() throws Exception {
		Object plain = invoke(classLoader("idempotency-.*"), PlainApplication.class, "beanTypes");
		assertThat(plain).asString()
			.contains("cacheManager ", "applicationTaskExecutor ", "taskScheduler ", "dataSource ",
					"redisConnectionFactory ", "observationRegistry ", "jacksonObjectMapper ");
		assertThat(invoke(classLoader("none"), PlainApplication.class, "beanTypes")).isEqualTo(plain);
	}

	@Test
	void pointersIntoJsonWithoutJacksonFailTheStartAndSaySo() throws Exception {
		assertThat(invoke("jackson-.*", "failureOfPointer")).asString()
			.contains("its body '/order/id' points into JSON")
			.contains("neither Jackson 2 nor Jackson 3");
	}

	@Test
	void nothingOfTheMetricsIsLoadedWhereNobodyMeasures() throws Exception {
		RecordingClassLoader classLoader = classLoader("micrometer-core.*|spring-boot-actuator.*");
		assertThat(invoke(classLoader, "runs")).isEqualTo(1);
		assertThat(classLoader.found).contains(Cancellations.class.getName())
			.noneMatch((name) -> name.startsWith("io.idempotency.observation.") || name.contains("StoreHealth"));
	}

	@Test
	void jarsAreReallyMissing() throws Exception {
		try (URLClassLoader classLoader = classLoader("jackson-.*")) {
			assertThat(ClassUtils.isPresent("com.fasterxml.jackson.databind.ObjectMapper", classLoader)).isFalse();
			assertThat(ClassUtils.isPresent("org.springframework.web.servlet.DispatcherServlet", classLoader)).isTrue();
		}
	}

	private static int runs(String missing) throws Exception {
		return (int) invoke(missing, "runs");
	}

	private static Object invoke(String missing, String method) throws Exception {
		return invoke(classLoader(missing), method);
	}

	private static Object invoke(URLClassLoader given, String method) throws Exception {
		return invoke(given, Application.class, method);
	}

	private static Object invoke(URLClassLoader given, Class<?> type, String method) throws Exception {
		Thread thread = Thread.currentThread();
		ClassLoader before = thread.getContextClassLoader();
		try (URLClassLoader classLoader = given) {
			thread.setContextClassLoader(classLoader);
			Method invoked = classLoader.loadClass(type.getName()).getDeclaredMethod(method);
			return invoked.invoke(null);
		}
		finally {
			thread.setContextClassLoader(before);
		}
	}

	private static RecordingClassLoader classLoader(String missing) throws Exception {
		List<URL> urls = new ArrayList<>();
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			File file = new File(entry);
			// In a build without jars: the directory of the module.
			String name = entry.endsWith("target" + File.separator + "classes")
					? file.getParentFile().getParentFile().getName() : file.getName();
			if (!name.replaceAll("(idempotency-[a-z-]+)-\\d.*", "$1").matches(missing)) {
				urls.add(file.toURI().toURL());
			}
		}
		return new RecordingClassLoader(urls.toArray(URL[]::new));
	}

	/** Remembers which classes were loaded. */
	private static final class RecordingClassLoader extends URLClassLoader {

		private final Set<String> found = ConcurrentHashMap.newKeySet();

		RecordingClassLoader(URL[] urls) {
			super(urls, ClassLoader.getPlatformClassLoader());
		}

		@Override
		protected Class<?> findClass(String name) throws ClassNotFoundException {
			this.found.add(name);
			return super.findClass(name);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ IdempotencyAutoConfiguration.class, IdempotencyObservationAutoConfiguration.class,
			IdempotencyMetricsAutoConfiguration.class, IdempotencyHealthAutoConfiguration.class })
	public static class Application {

		@Bean
		Cancellations cancellations() {
			return new Cancellations();
		}

		public static int runs() {
			try (ConfigurableApplicationContext context = application().run()) {
				Cancellations cancellations = context.getBean(Cancellations.class);
				cancellations.cancel("7");
				cancellations.cancel("7");
				return cancellations.runs();
			}
		}

		public static String failureOfPointer() {
			SpringApplication application = application();
			application.addPrimarySources(List.of(OrderById.class));
			return failure(application);
		}

		private static String failure(SpringApplication application, String... arguments) {
			try (ConfigurableApplicationContext context = application.run(arguments)) {
				return "none";
			}
			catch (RuntimeException ex) {
				return String.valueOf(NestedExceptionUtils.getMostSpecificCause(ex).getMessage());
			}
		}

		private static SpringApplication application() {
			return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
				.properties("logging.level.root=off", "spring.main.banner-mode=off",
						"spring.main.register-shutdown-hook=false")
				.build();
		}

	}

	public static class OrderById {

		@Idempotent(body = "/order/id")
		public void place() {
		}

	}

}
