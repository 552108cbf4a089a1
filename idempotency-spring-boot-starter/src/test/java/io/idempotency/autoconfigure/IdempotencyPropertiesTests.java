package io.idempotency.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.ScopeMode;
import io.idempotency.StoreFailureMode;
import io.idempotency.store.jdbc.JdbcSchema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.mockito.Mockito.mock;

class IdempotencyPropertiesTests {

	@Test
	void hasTheDocumentedDefaults() {
		IdempotencyProperties properties = bind(Map.of());
		assertThat(properties.enabled()).isTrue();
		assertThat(properties.store()).isEqualTo(StoreType.AUTO);
		assertThat(properties.retention()).isEqualTo(Duration.ofHours(24));
		assertThat(properties.lease()).isEqualTo(Duration.ofSeconds(30));
		assertThat(properties.renewal()).isTrue();
		assertThat(properties.conflict()).isEqualTo(ConflictMode.REJECT);
		assertThat(properties.waitTimeout()).isEqualTo(Duration.ofSeconds(5));
		assertThat(properties.maxWaiters()).isEqualTo(50);
		assertThat(properties.maxDetachedCalls()).isEqualTo(1000);
		assertThat(properties.maxDetachedDuration()).isEqualTo(Duration.ofMinutes(10));
		assertThat(properties.scope()).isEqualTo(ScopeMode.PRINCIPAL);
		assertThat(properties.fingerprint()).isEqualTo(IdempotencyProperties.FingerprintType.JSON);
		assertThat(properties.onFailure()).isEqualTo(FailureMode.RELEASE);
		assertThat(properties.onStoreFailure()).isEqualTo(StoreFailureMode.REJECT);
	}

	@Test
	void hasTheDocumentedDefaultsOfKeysAndRequests() {
		IdempotencyProperties properties = bind(Map.of());
		assertThat(properties.key()).isEqualTo(new IdempotencyProperties.Key("Idempotency-Key", 255));
		assertThat(properties.http().filterOrder()).isZero();
		assertThat(properties.http().replayedHeader()).isEqualTo("Idempotent-Replayed");
		assertThat(properties.http().maxRequestSize()).isEqualTo(DataSize.ofMegabytes(1));
		assertThat(properties.http().maxResponseSize()).isEqualTo(DataSize.ofMegabytes(1));
		assertThat(properties.http().releaseOn()).containsExactly("401", "403", "408", "425", "429", "5xx");
		assertThat(properties.http().excludedHeaders()).isEmpty();
		assertThat(properties.http().scopeHeaders()).isEmpty();
		assertThat(properties.http().fingerprintHeaders()).isEmpty();
		assertThat(properties.http().ignoredParameters()).isEmpty();
		assertThat(properties.http().retentionOnError()).isNull();
		assertThat(properties.token())
			.isEqualTo(new IdempotencyProperties.Token(false, "/idempotency/tokens", Duration.ofMinutes(10)));
	}

	@Test
	void hasTheDocumentedDefaultsOfStores() {
		IdempotencyProperties properties = bind(Map.of());
		assertThat(properties.redis()).isEqualTo(new IdempotencyProperties.Redis("idempotency:"));
		assertThat(properties.jdbc()).isEqualTo(new IdempotencyProperties.Jdbc(3, "idempotency_record",
				IdempotencyProperties.Jdbc.SchemaInitialization.EMBEDDED,
				new IdempotencyProperties.Jdbc.Cleanup(true, Duration.ofMinutes(5), 1000)));
		assertThat(properties.encryption()).isEqualTo(new IdempotencyProperties.Encryption(Map.of(), null, false));
	}

	@Test
	void memoryMayTakeAnEighthOfTheHeapByDefault() {
		long eighth = Runtime.getRuntime().maxMemory() / 8;
		DataSize maxSize = bind(Map.of()).memory().maxSize();
		assertThat(maxSize).isEqualTo(DataSize.ofBytes(Math.max(eighth, DataSize.ofMegabytes(64).toBytes())));
		assertThat(bind(Map.of("idempotency.memory.max-size", "10MB")).memory().maxSize())
			.isEqualTo(DataSize.ofMegabytes(10));
	}

	@ParameterizedTest
	@CsvSource({ "16, 64", "256, 64", "512, 64", "1024, 128", "16384, 2048" })
	void memoryTakesAnEighthOfALargeHeapAndNotLessThanItNeeds(long heapMegabytes, long megabytes) {
		assertThat(IdempotencyProperties.Memory.defaultOf(heapMegabytes * 1024 * 1024))
			.isEqualTo(DataSize.ofMegabytes(megabytes));
	}

	@Test
	void durationsWithoutAUnitAreSeconds() {
		IdempotencyProperties properties = bind(Map.of("idempotency.retention", "86400", "idempotency.lease", "30",
				"idempotency.wait-timeout", "5", "idempotency.store-timeout", "2", "idempotency.token.ttl", "600",
				"idempotency.redis.wait-timeout", "1", "idempotency.jdbc.cleanup.interval", "300"));
		assertThat(properties).isEqualTo(bind(Map.of()));
	}

	@ParameterizedTest
	@ValueSource(strings = { "record", "shop.record", "_1", "a.b.c", "a.b.c.d", "1a", "a.1b", ".a", "a.", "a-b", "",
			"A2345678901234567890123456789012345678901234567890",
			"s.A2345678901234567890123456789012345678901234567890",
			"A23456789012345678901234567890123456789012345678901" })
	void tableNamesAreThoseThatTheStoreTakes(String name) {
		boolean rejectedByTheStore = catchThrowable(() -> new JdbcSchema(mock(DataSource.class), name)) != null;
		Throwable rejected = catchThrowable(() -> bind(Map.of("idempotency.jdbc.table-name", name)));
		assertThat(rejected != null).isEqualTo(rejectedByTheStore);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			idempotency.namespace               | 'a	b'
			idempotency.node                    | 'a b'
			idempotency.node                    | knöten
			idempotency.node                    | ''
			idempotency.retention               | 0s
			idempotency.retention               | -1h
			idempotency.retention               | 1us
			idempotency.retention               | 36501d
			idempotency.lease                   | 0
			idempotency.lease                   | 999us
			idempotency.wait-timeout            | 1ns
			idempotency.wait-timeout            | -5s
			idempotency.conflict                | default
			idempotency.on-failure              | default
			idempotency.max-waiters             | -1
			idempotency.max-detached-calls      | 0
			idempotency.max-detached-duration   | 0s
			idempotency.max-detached-duration   | -10m
			idempotency.key.header              | ''
			idempotency.key.header              | Idempotency Key
			idempotency.key.header              | Schlüssel
			idempotency.key.max-length          | 0
			idempotency.http.replayed-header    | Replayed:
			idempotency.http.replayed-header    | Location
			idempotency.http.replayed-header    | content-type
			idempotency.http.replayed-header    | Set-Cookie
			idempotency.http.max-request-size   | 0B
			idempotency.http.max-request-size   | 2GB
			idempotency.http.max-response-size  | -1KB
			idempotency.http.max-response-size  | 1025MB
			idempotency.http.release-on[0]      | 6xx
			idempotency.http.release-on[0]      | 2xx
			idempotency.http.release-on[0]      | 200
			idempotency.http.release-on[0]      | 3xx
			idempotency.http.release-on[0]      | 100
			idempotency.http.release-on[0]      | 42
			idempotency.http.release-on[0]      | 4x4
			idempotency.http.release-on[0]      | server error
			idempotency.http.excluded-headers[0]| X Trace
			idempotency.http.retention-on-error | 0s
			idempotency.http.retention-on-error | 1us
			idempotency.http.retention-on-error | -1m
			idempotency.http.retention-on-error | 25h
			idempotency.http.scope-headers[0]   | X Tenant
			idempotency.http.problem-type-base  | ''
			idempotency.http.problem-type-base  | errors/
			idempotency.http.problem-type-base  | /errors/
			idempotency.http.problem-type-base  | https://shop.example/my errors/
			idempotency.http.problem-type-base  | https://shop.example/errors
			idempotency.http.problem-type-base  | ://shop.example/
			idempotency.http.fingerprint-headers[0] | X Currency
			idempotency.http.fingerprint-headers[0] | X-Request-ID
			idempotency.http.scope-headers[0]   | Cookie
			idempotency.http.scope-headers[0]   | traceparent
			idempotency.http.scope-headers[0]   | X-Forwarded-For
			idempotency.token.path              | idempotency/tokens
			idempotency.token.path              | ' '
			idempotency.token.path              | /tokens/{id}
			idempotency.token.ttl               | 0m
			idempotency.token.ttl               | 1us
			idempotency.redis.key-prefix        | my shop:
			idempotency.jdbc.table-name         | record; drop table users
			idempotency.jdbc.table-name         | 1record
			idempotency.jdbc.table-name         | a.b.c
			idempotency.jdbc.cleanup.interval   | 0m
			idempotency.jdbc.cleanup.batch-size | 0
			idempotency.memory.max-size         | 0
			""")
	void wrongValueIsRejectedWithTheNameOfItsProperty(String name, String value) {
		assertThat(invalid(Map.of(name, value))).satisfies((ex) -> {
			assertThat(ex.getName()).isEqualTo(name);
			assertThat(ex.getReason()).startsWith("It must").endsWith(".");
		});
	}

	@ParameterizedTest
	@CsvSource({ "idempotency.lease, -50ms, -50ms", "idempotency.retention, -1h, -3600s",
			"idempotency.http.retention-on-error, 25h, 90000s", "idempotency.token.ttl, 500us, PT0.0005S" })
	void wrongDurationIsShownAsAConfigurationWritesIt(String name, String value, String shown) {
		assertThat(invalid(Map.of(name, value)).getValue()).isEqualTo(shown);
	}

	@Test
	void wrongElementOfAListIsNamedByItsIndex() {
		assertThat(invalid(Map.of("idempotency.http.release-on", "5xx, 429, nonsense"))).satisfies((ex) -> {
			assertThat(ex.getName()).isEqualTo("idempotency.http.release-on[2]");
			assertThat(ex.getValue()).isEqualTo("nonsense");
		});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			idempotency.store                  | cassandra
			idempotency.conflict               | default
			idempotency.on-failure             | default
			idempotency.on-store-failure       | ignore
			idempotency.scope                  | tenant
			idempotency.http.anonymous         | welcome
			idempotency.fingerprint            | xml
			idempotency.jdbc.initialize-schema | sometimes
			idempotency.lease                  | soon
			idempotency.memory.max-size        | much
			idempotency.enabled                | perhaps
			idempotency.key.max-length         | long
			""")
	void valueOfAnotherTypeIsRejectedWithTheNameOfItsProperty(String name, String value) {
		assertThatExceptionOfType(BindException.class).isThrownBy(() -> bind(Map.of(name, value)))
			.satisfies((ex) -> assertThat(causes(ex)).anyMatch((message) -> message.contains(name)));
	}

	@ParameterizedTest
	@MethodSource("validValues")
	void unusualButValidValueIsAccepted(String name, String value) {
		assertThatCode(() -> bind(Map.of(name, value))).doesNotThrowAnyException();
	}

	static Stream<Object[]> validValues() {
		return Stream.of(new Object[] { "idempotency.max-waiters", "0" },
				new Object[] { "idempotency.http.release-on", "" },
				new Object[] { "idempotency.http.release-on", "4XX,599" },
				new Object[] { "idempotency.redis.key-prefix", "" }, new Object[] { "idempotency.namespace", "" },
				new Object[] { "idempotency.namespace", "Order Service, Köln" },
				new Object[] { "idempotency.redis.key-prefix", "{büro}:" },
				new Object[] { "idempotency.jdbc.table-name", "shop.idempotency_record" },
				new Object[] { "idempotency.http.problem-type-base", "https://shop.example/errors.html#" },
				new Object[] { "idempotency.http.problem-type-base", "tag:shop.example,2026:" },
				new Object[] { "idempotency.token.path", "/api/v1/tokens" });
	}

	@Test
	void answersOf4xxAreKeptNoLongerThanOthers() {
		Map<String, String> both = Map.of("idempotency.retention", "1h", "idempotency.http.retention-on-error", "3601");
		assertThat(invalid(both)).satisfies((ex) -> {
			assertThat(ex.getName()).isEqualTo("idempotency.http.retention-on-error");
			assertThat(ex.getReason()).contains("'idempotency.retention', which is 3600s");
		});
		Map<String, String> equal = Map.of("idempotency.retention", "1h", "idempotency.http.retention-on-error",
				"3600");
		assertThat(bind(equal).http().retentionOnError()).isEqualTo(Duration.ofHours(1));
	}

	@Test
	void callersWhoMustBeKnownAreToldApart() {
		Map<String, String> both = Map.of("idempotency.scope", "global", "idempotency.http.anonymous", "reject");
		assertThat(invalid(both)).satisfies((ex) -> {
			assertThat(ex.getName()).isEqualTo("idempotency.http.anonymous");
			assertThat(ex.getReason()).contains("idempotency.scope is 'global'");
		});
	}

	@Test
	void emptyReleaseOnReleasesNothing() {
		assertThat(bind(Map.of("idempotency.http.release-on", "")).http().releaseOn()).isEmpty();
	}

	private static Stream<String> causes(Throwable ex) {
		return Stream.<Throwable>iterate(ex, (cause) -> cause != null, Throwable::getCause).map(String::valueOf);
	}

	private static InvalidConfigurationPropertyValueException invalid(Map<String, String> values) {
		BindException ex = catchThrowableOfType(BindException.class, () -> bind(values));
		return (InvalidConfigurationPropertyValueException) Stream
			.<Throwable>iterate(ex, (cause) -> cause != null, Throwable::getCause)
			.filter(InvalidConfigurationPropertyValueException.class::isInstance)
			.findFirst()
			.orElseThrow();
	}

	private static IdempotencyProperties bind(Map<String, String> values) {
		return new Binder(new MapConfigurationPropertySource(values)).bindOrCreate("idempotency",
				IdempotencyProperties.class);
	}

}
