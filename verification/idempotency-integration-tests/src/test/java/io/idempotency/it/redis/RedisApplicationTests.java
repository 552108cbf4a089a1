package io.idempotency.it.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.serializer.RedisSerializer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;

/**
 * An application with the two starters and nothing else to say.
 */
@Requires(Backend.REDIS)
@ExtendWith(OutputCaptureExtension.class)
class RedisApplicationTests {

	/** Whatever is on the class path for other tests. */
	private static final String NO_DATABASE = "spring.autoconfigure.exclude="
			+ "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration,"
			+ "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";

	private RedisServer server;

	@BeforeEach
	void startServer() {
		this.server = RedisServer.start(RedisBinary.REDIS_7_0);
	}

	@AfterEach
	void stopServer() {
		this.server.close();
	}

	@Test
	void connectionIsAllItTakes() {
		try (ConfigurableApplicationContext application = start("idempotency.store=auto", NO_DATABASE)) {
			assertThat(application.getBean(IdempotencyStore.class)).isInstanceOf(RedisIdempotencyStore.class);
			assertThat(application.getBean(RedisConnectionFactory.class)).isInstanceOf(LettuceConnectionFactory.class);
			assertThat(application.getBean(ReactiveIdempotencyStore.class).blocking())
				.isSameAs(application.getBean(IdempotencyStore.class));
			assertThat(RedisCommandCountTests.commandsOf(this.server, () -> expectOnePayment(application)))
				.as("the scripts are loaded")
				.doesNotContainKey("eval");
			assertThat(keys()).singleElement().asString().startsWith("idempotency:").contains("Payments.pay");
		}
	}

	@Test
	void jedisWillDo(CapturedOutput output) {
		try (ConfigurableApplicationContext application = start("spring.data.redis.client-type=jedis")) {
			assertThat(application.getBean(RedisConnectionFactory.class)).isInstanceOf(JedisConnectionFactory.class);
			expectOnePayment(application);
			application.getBean(ReactiveIdempotencyEngine.class).store(application.getBean(IdempotencyStore.class));
			assertThat(output).contains("RedisIdempotencyStore blocks");
		}
	}

	@Test
	void twoNodesAreOne() {
		try (ConfigurableApplicationContext one = start();
				ConfigurableApplicationContext two = start("spring.data.redis.client-type=jedis")) {
			assertThat(one.getBean(Payments.class).pay("7")).isEqualTo("payment 1 of 7");
			assertThat(two.getBean(Payments.class).pay("7")).isEqualTo("payment 1 of 7");
			assertThat(two.getBean(Payments.class).runs()).isZero();
		}
	}

	@Test
	void prefixIsTheApplications() {
		try (ConfigurableApplicationContext application = start("spring.application.name=shop",
				"idempotency.redis.key-prefix=${spring.application.name}:once:")) {
			expectOnePayment(application);
			assertThat(keys()).singleElement().asString().startsWith("shop:once:");
		}
	}

	@Test
	void servicesOfAnotherNameHaveTheirOwnKeys() {
		try (ConfigurableApplicationContext orders = start("spring.application.name=orders");
				ConfigurableApplicationContext sameOrders = start("spring.application.name=orders");
				ConfigurableApplicationContext refunds = start("spring.application.name=refunds")) {
			assertThat(orders.getBean(Payments.class).pay("7")).isEqualTo("payment 1 of 7");
			assertThat(sameOrders.getBean(Payments.class).pay("7")).isEqualTo("payment 1 of 7");
			assertThat(sameOrders.getBean(Payments.class).runs()).isZero();
			assertThat(refunds.getBean(Payments.class).pay("7")).isEqualTo("payment 1 of 7");
			assertThat(refunds.getBean(Payments.class).runs()).isOne();
			assertThat(keys()).extracting(String::valueOf)
				.hasSize(2)
				.anySatisfy((key) -> assertThat(key).startsWith("idempotency:orders:").contains("Payments.pay"))
				.anySatisfy((key) -> assertThat(key).startsWith("idempotency:refunds:").contains("Payments.pay"));
		}
	}

	@Test
	void templatesOfTheApplicationAreLeftAlone() {
		try (ConfigurableApplicationContext application = start()) {
			expectOnePayment(application);
			RedisTemplate<?, ?> template = application.getBean("redisTemplate", RedisTemplate.class);
			verifyNoInteractions(template.getKeySerializer(), template.getValueSerializer());
		}
	}

	@Test
	void serverThatIsDownAtTheStartIsUsedWhenItIsUp(CapturedOutput output) {
		this.server.kill();
		try (ConfigurableApplicationContext application = start()) {
			assertThat(output).contains("Redis is unavailable at startup").doesNotContain("\tat ");
			Payments payments = application.getBean(Payments.class);
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> payments.pay("7"));
			assertThat(payments.runs()).isZero();
			this.server.restart();
			expectOnePayment(application);
		}
	}

	@Test
	void timeOutOfTheStoreIsTheApplications(CapturedOutput output) {
		try (ConfigurableApplicationContext application = start("spring.data.redis.client-type=jedis",
				"idempotency.store-timeout=10s", "spring.data.redis.timeout=20s")) {
			assertThat(output).contains("idempotency.store-timeout (10000 ms)").contains("spring.data.redis.timeout");
			expectOnePayment(application);
		}
	}

	@Test
	void serverThatStandsStillIsGivenUpLongBeforeItsClientWould() {
		try (ConfigurableApplicationContext application = start("idempotency.store-timeout=6s",
				"spring.data.redis.timeout=10m")) {
			expectOnePayment(application);
			this.server.pause();
			Payments payments = application.getBean(Payments.class);
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> payments.pay("8"));
			this.server.resume();
			assertThat(payments.runs()).isEqualTo(1);
		}
	}

	@Test
	void serverThatEvictsIsAWarningAtTheStart(CapturedOutput output) {
		this.server.command("CONFIG", "SET", "maxmemory", "100mb");
		this.server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
		try (ConfigurableApplicationContext application = start()) {
			assertThat(output).contains("WARN").contains("maxmemory-policy 'allkeys-lru'");
			expectOnePayment(application);
		}
	}

	private ConfigurableApplicationContext start(String... properties) {
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.run(arguments(properties));
	}

	/** Before the properties of all tests. */
	private String[] arguments(String... properties) {
		List<String> arguments = new ArrayList<>(List.of("--idempotency.store=redis",
				"--spring.data.redis.host=127.0.0.1", "--spring.data.redis.port=" + this.server.port(),
				"--spring.data.redis.repositories.enabled=false"));
		for (String property : properties) {
			arguments.removeIf((argument) -> argument.startsWith("--" + property.substring(0, property.indexOf('='))));
			arguments.add("--" + property);
		}
		return arguments.toArray(String[]::new);
	}

	private static void expectOnePayment(ConfigurableApplicationContext application) {
		Payments payments = application.getBean(Payments.class);
		assertThat(payments.pay("7")).isEqualTo("payment 1 of 7");
		assertThat(payments.pay("7")).isEqualTo("payment 1 of 7");
		assertThat(payments.runs()).isEqualTo(1);
	}

	private List<?> keys() {
		return (List<?>) this.server.command("KEYS", "*");
	}

	@SpringBootConfiguration
	@EnableAutoConfiguration
	@Import(Payments.class)
	static class Application {

		@Bean
		RedisTemplate<?, ?> redisTemplate(RedisConnectionFactory connectionFactory) {
			RedisTemplate<?, ?> template = new RedisTemplate<>();
			template.setConnectionFactory(connectionFactory);
			template.setDefaultSerializer(mock(RedisSerializer.class));
			return template;
		}

	}

	static class Payments {

		private final AtomicInteger runs = new AtomicInteger();

		@Idempotent("#id")
		public String pay(String id) {
			return "payment " + this.runs.incrementAndGet() + " of " + id;
		}

		int runs() {
			return this.runs.get();
		}

	}

}
