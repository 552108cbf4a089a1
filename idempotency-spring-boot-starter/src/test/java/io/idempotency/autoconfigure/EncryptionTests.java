package io.idempotency.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.codec.AesGcmResultCipher;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.codec.ResultCipher;
import io.idempotency.store.StoredResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.PropertiesPropertySourceLoader;
import org.springframework.boot.env.PropertySourceLoader;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Which keys encrypt stored results, and that nobody reads them in a message. */
@ExtendWith(OutputCaptureExtension.class)
class EncryptionTests {

	private static final String KEY_1 = key(1, 32);

	private static final String KEY_2 = key(2, 16);

	private static final byte[] RECORD = { 1 };

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
		.withBean("idempotencyStore", RecordingStore.class);

	@Test
	void resultsAreStoredAsTheyAreByDefault() {
		this.runner.run((context) -> {
			assertThat(context.getBean(IdempotencyEngine.class).encryptsResults()).isFalse();
			assertThat(new String(storedResult(context).bytes(), StandardCharsets.UTF_8)).contains("PIN");
		});
	}

	@Test
	void oneKeyIsAllItTakes(CapturedOutput output) {
		this.runner.withPropertyValues("idempotency.encryption.keys.k1=" + KEY_1).run((context) -> {
			StoredResult stored = storedResult(context);
			assertThat(stored.format()).isEqualTo("idempotency.encrypted1");
			assertThat(new String(stored.bytes(), StandardCharsets.ISO_8859_1)).contains("k1").doesNotContain("PIN");
		});
		assertThat(output).contains("Stored results are encrypted: AES-GCM with the keys [k1], active key 'k1'")
			.doesNotContain(KEY_1);
	}

	@Test
	void cipherOfTheApplicationNeedsNoKey() {
		this.runner.withBean(ResultCipher.class, Reversing::new).run((context) -> {
			StoredResult stored = storedResult(context);
			assertThat(new String(stored.bytes(), StandardCharsets.UTF_8)).contains("NIP");
			assertThat(pin(context)).isEqualTo("PIN");
		});
	}

	@Test
	void firstKeyOfYamlEncrypts() throws IOException {
		assertThat(encrypting(new YamlPropertySourceLoader(), """
				idempotency:
				  encryption:
				    keys:
				      z9: %s
				      a1: %s
				""".formatted(KEY_2, KEY_1))).isEqualTo("z9");
	}

	@Test
	void firstKeyOfPropertiesEncrypts() throws IOException {
		assertThat(encrypting(new PropertiesPropertySourceLoader(), """
				idempotency.encryption.keys.z9=%s
				idempotency.encryption.keys.a1=%s
				""".formatted(KEY_2, KEY_1))).isEqualTo("z9");
	}

	@Test
	void activeKeyEncryptsWhereverItStands() throws IOException {
		assertThat(encrypting(new PropertiesPropertySourceLoader(), """
				idempotency.encryption.active-key=a1
				idempotency.encryption.keys.z9=%s
				idempotency.encryption.keys.a1=%s
				""".formatted(KEY_2, KEY_1))).isEqualTo("a1");
	}

	@Test
	void keysMayBeEnvironmentVariables() {
		Map<String, Object> variables = new HashMap<>();
		variables.put("IDEMPOTENCY_ENCRYPTION_KEYS_K1", KEY_1 + "\n");
		variables.put("IDEMPOTENCY_ENCRYPTION_KEYS_K2", KEY_2);
		variables.put("IDEMPOTENCY_ENCRYPTION_ACTIVEKEY", "k2");
		assertThat(encrypting(List.of(new SystemEnvironmentPropertySource("systemEnvironment", variables))))
			.isEqualTo("k2");
	}

	@Test
	void bothAlphabetsOfBase64AreKeys() {
		byte[] key = new byte[32];
		Arrays.fill(key, (byte) 0xFB);
		String url = Base64.getUrlEncoder().withoutPadding().encodeToString(key);
		assertThat(url).contains("-");
		assertThat(bind(Map.of("k1", url)).keys()).hasSize(1);
	}

	@ParameterizedTest
	@MethodSource
	void wrongKeyFailsTheStartAndIsNotPrinted(Map<String, String> properties, String name, String reason,
			CapturedOutput output) {
		Throwable failure = start(properties);
		assertThat(report(output)).contains("Property " + name).contains(reason);
		properties.values()
			.stream()
			.filter((value) -> value.length() > 12)
			.forEach((secret) -> assertHidden(failure, output, secret));
	}

	static Stream<Arguments> wrongKeyFailsTheStartAndIsNotPrinted() {
		String keys = "idempotency.encryption.keys";
		return Stream.of(
				Arguments.of(Map.of(keys + ".k1", "not?base64-not?base64"), keys + "[k1]",
						"It must be a base64-encoded key, such as"),
				Arguments.of(Map.of(keys + ".k1", key(1, 31)), keys + "[k1]", "16, 24 or 32 bytes, not 31"),
				Arguments.of(Map.of(keys + ".k1", ""), keys + "[k1]", "16, 24 or 32 bytes, not 0"),
				Arguments.of(Map.of(keys + ".k1", "${NOT_THERE_AT_ALL}"), keys + "[k1]",
						"It must be a base64-encoded key, such as"),
				Arguments.of(Map.of(keys + "[]", KEY_1), keys, "id"),
				Arguments.of(Map.of(keys + "[a b]", KEY_1), keys, "Each key id must be"),
				Arguments.of(Map.of(keys + "[" + KEY_1 + "]", "k1-k1-k1-k1-k1"), keys, "Each key id must be"),
				Arguments.of(Map.of(keys + "[k1]", KEY_1, keys + "[K1]", KEY_2), keys, "by more than case"),
				Arguments.of(Map.of(keys + ".k1", KEY_1, keys + ".k2", KEY_1), keys, "It must be a different key than"),
				Arguments.of(Map.of(keys, KEY_1), keys, "requires a key id below it"),
				Arguments.of(Map.of(keys, ""), keys, "requires a key id below it"),
				Arguments.of(Map.of(keys + ".k1", KEY_1, "idempotency.encryption.active-key", "k2"),
						"idempotency.encryption.active-key", "the id of one of"),
				Arguments.of(Map.of(keys + ".k1", KEY_1, "idempotency.encryption.active-key", KEY_2),
						"idempotency.encryption.active-key", "the id of one of"),
				Arguments.of(Map.of("idempotency.encryption.active-key", "k1"), "idempotency.encryption.active-key",
						"the id of one of"));
	}

	@Test
	void keyInThePlaceOfAnIdIsNotPrinted(CapturedOutput output) {
		Throwable failure = start(Map.of("idempotency.encryption.keys[" + KEY_1 + "]", "k1"));
		assertHidden(failure, output, KEY_1);
		Throwable bare = start(Map.of("idempotency.encryption.keys." + KEY_2.replace("=", ""), "k1"));
		assertHidden(bare, output, KEY_2.replace("=", ""));
	}

	@ParameterizedTest
	@ValueSource(strings = { "false", "true" })
	void keysAndACipherAreOneTooMany(String lazy, CapturedOutput output) {
		Throwable failure = start(
				Map.of("idempotency.encryption.keys.k1", KEY_1, "spring.main.lazy-initialization", lazy),
				OwnCipher.class);
		assertThat(report(output)).contains("idempotency.encryption.keys is set")
			.contains("EncryptionTests$OwnCipher)")
			.contains("Remove idempotency.encryption.keys, or the bean");
		assertHidden(failure, output, KEY_1);
	}

	@Test
	void oneOfTwoCiphersMustBePrimary() {
		this.runner.withBean("one", ResultCipher.class, Reversing::new)
			.withBean("two", ResultCipher.class, Reversing::new)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(IdempotencyConfigurationException.class)
				.hasMessageContaining("several beans of type ResultCipher"));
	}

	@Test
	void engineOfTheApplicationMustEncryptToo() {
		this.runner.withPropertyValues("idempotency.encryption.keys.k1=" + KEY_1)
			.withBean(IdempotencyEngine.class, () -> new IdempotencyEngine(1, IdempotencyListener.NONE))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(IdempotencyConfigurationException.class)
				.hasMessageContaining("IdempotencyEngine"));
	}

	@Test
	void readingWhatIsPlainIsSaidAloud(CapturedOutput output) {
		this.runner
			.withPropertyValues("idempotency.encryption.keys.k1=" + KEY_1,
					"idempotency.encryption.allow-unencrypted-reads=true")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("idempotency.encryption.allow-unencrypted-reads is true");
	}

	@Test
	void keysAreNotPrintedWithTheProperties() {
		this.runner.withPropertyValues("idempotency.encryption.keys.k1=" + KEY_1).run((context) -> {
			IdempotencyProperties properties = context.getBean(IdempotencyProperties.class);
			assertThat(properties.toString()).contains("keys=[k1]").doesNotContain(KEY_1);
			assertThat(context.getBean(EncryptionSelection.class).toString()).contains("k1").doesNotContain(KEY_1);
		});
	}

	private static StoredResult storedResult(AssertableApplicationContext context) {
		assertThat(pin(context)).isEqualTo("PIN");
		assertThat(pin(context)).isEqualTo("PIN");
		return context.getBean(RecordingStore.class).completions.get(0).result();
	}

	private static String pin(AssertableApplicationContext context) {
		return context.getBean(IdempotencyTemplate.class).operation("pin").key("7").execute(String.class, () -> "PIN");
	}

	private static String encrypting(PropertySourceLoader loader, String text) throws IOException {
		return encrypting(loader.load("test", new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8))));
	}

	/** The id that a result begins with. */
	private static String encrypting(List<PropertySource<?>> sources) {
		IdempotencyProperties properties = new Binder(ConfigurationPropertySources.from(sources))
			.bindOrCreate("idempotency", IdempotencyProperties.class);
		AesGcmResultCipher cipher = EncryptionKeys.cipher(properties.encryption());
		byte[] encrypted = cipher.encrypt(new byte[0], RECORD);
		assertThat(cipher.decrypt(encrypted, RECORD)).isEmpty();
		return new String(encrypted, 2, encrypted[1], StandardCharsets.US_ASCII);
	}

	private static IdempotencyProperties.Encryption bind(Map<String, String> keys) {
		return new IdempotencyProperties.Encryption(keys, null, false);
	}

	private static Throwable start(Map<String, String> properties, Class<?>... beans) {
		SpringApplication application = new SpringApplicationBuilder(Application.class).sources(beans)
			.web(WebApplicationType.NONE)
			.properties(new HashMap<>(properties))
			.build();
		application.setRegisterShutdownHook(false);
		return assertThatExceptionOfType(Exception.class).isThrownBy(application::run).actual();
	}

	private static String report(CapturedOutput output) {
		String text = output.toString();
		assertThat(text).contains("APPLICATION FAILED TO START");
		return text.substring(text.indexOf("APPLICATION FAILED TO START"));
	}

	private static void assertHidden(Throwable failure, CapturedOutput output, String secret) {
		assertThat(output.toString()).doesNotContain(secret);
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			assertThat(cause.toString()).doesNotContain(secret);
		}
	}

	private static String key(int seed, int length) {
		byte[] key = new byte[length];
		for (int i = 0; i < length; i++) {
			key[i] = (byte) (seed * 37 + i * 11);
		}
		return Base64.getEncoder().encodeToString(key);
	}

	/** No cipher at all, but one can see that it was asked. */
	static class Reversing implements ResultCipher {

		@Override
		public byte[] encrypt(byte[] plain, byte[] context) {
			byte[] reversed = new byte[plain.length];
			for (int i = 0; i < plain.length; i++) {
				reversed[i] = plain[plain.length - 1 - i];
			}
			return reversed;
		}

		@Override
		public byte[] decrypt(byte[] encrypted, byte[] context) {
			return encrypt(encrypted, context);
		}

	}

	static class OwnCipher extends Reversing {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(IdempotencyAutoConfiguration.class)
	static class Application {

	}

}
