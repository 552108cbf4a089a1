package io.idempotency.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import io.idempotency.Idempotent;
import io.idempotency.interceptor.CallRoot;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.core.io.Resource;
import org.springframework.core.io.UrlResource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.core.io.support.PropertiesLoaderUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

/** What a native image is told about the library itself. */
class IdempotencyRuntimeHintsTests {

	private static final Pattern CLASS_NAME = Pattern.compile("[a-z][a-z0-9]*(\\.[a-z0-9]+)+\\.[A-Z]\\w+");

	private final RuntimeHints hints = new RuntimeHints();

	@BeforeEach
	void register() {
		new IdempotencyRuntimeHints().registerHints(this.hints, getClass().getClassLoader());
	}

	@Test
	void hintsAreFoundByABuild() throws IOException {
		// The class path has the factories of other jars, which lack what they need here.
		String factories = IdempotencyRuntimeHints.class.getProtectionDomain().getCodeSource().getLocation()
				+ "META-INF/spring/aot.factories";
		Properties registered = PropertiesLoaderUtils.loadProperties(new UrlResource(factories));
		assertThat(registered)
			.containsExactly(entry(RuntimeHintsRegistrar.class.getName(), IdempotencyRuntimeHints.class.getName()));
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis/*.lua", "sql/schema/*/*.sql" })
	void everyScriptOfAStoreIsInTheImage(String pattern) throws IOException {
		Resource[] scripts = new PathMatchingResourcePatternResolver()
			.getResources("classpath:io/idempotency/store/" + pattern);
		assertThat(scripts).hasSizeGreaterThan(3)
			.allSatisfy((script) -> assertThat(RuntimeHintsPredicates.resource()
				.forResource(script.getURL().getPath().replaceAll(".*(?=io/idempotency/store/)", "")))
				.accepts(this.hints));
	}

	@Test
	void rootObjectOfExpressionsCanBeRead() {
		assertThat(CallRoot.class.getDeclaredMethods()).isNotEmpty();
		assertThat(RuntimeHintsPredicates.reflection()
			.onMethod(ClassUtils.getMethod(CallRoot.class, "header", String.class))
			.invoke()).accepts(this.hints);
		assertThat(RuntimeHintsPredicates.reflection()
			.onMethod(ClassUtils.getMethod(CallRoot.class, "getPrincipal"))
			.invoke()).accepts(this.hints);
	}

	@Test
	void mergedAnnotationCanBeMade() {
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Idempotent.class)).accepts(this.hints);
	}

	/**
	 * A type without a hint counts as absent in a native image, so a new question for a
	 * type needs a new hint.
	 */
	@Test
	void everyTypeThatIsAskedForByNameHasAHint() throws IOException {
		Set<String> names = new TreeSet<>();
		for (Resource type : new PathMatchingResourcePatternResolver()
			.getResources("classpath*:io/idempotency/**/*.class")) {
			String path = type.getURL().getPath();
			if (!path.contains("test-classes") && !path.endsWith("/IdempotencyRuntimeHints.class")) {
				names.addAll(askedFor(type));
			}
		}
		assertThat(names).hasSizeGreaterThan(10).isSubsetOf(IdempotencyRuntimeHints.ASKED_FOR);
	}

	private static Object read(Object owner, String name) throws IllegalAccessException {
		Field field = ReflectionUtils.findField(owner.getClass(), name);
		assertThat(field).as(name).isNotNull();
		field.setAccessible(true);
		return field.get(owner);
	}

	/**
	 * The names of types in the constants of a class that asks whether types are there.
	 */
	private static List<String> askedFor(Resource type) throws IOException {
		List<String> constants = new ArrayList<>();
		boolean[] asks = new boolean[1];
		try (InputStream bytes = type.getInputStream()) {
			new ClassReader(bytes).accept(new ClassVisitor(SpringAsmInfo.ASM_VERSION) {

				@Override
				public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
						String[] exceptions) {
					return new MethodVisitor(SpringAsmInfo.ASM_VERSION) {

						@Override
						public void visitLdcInsn(Object value) {
							if (value instanceof String text && CLASS_NAME.matcher(text).matches()) {
								constants
									.add(text.startsWith("oauth2.") ? "org.springframework.security." + text : text);
							}
						}

						@Override
						public void visitMethodInsn(int opcode, String owner, String method, String descriptor,
								boolean isInterface) {
							asks[0] |= owner.equals("org/springframework/util/ClassUtils") && method.equals("isPresent")
									|| owner.equals("java/lang/Class") && method.equals("forName");
						}

					};
				}

			}, ClassReader.SKIP_DEBUG);
		}
		return asks[0] ? constants : List.of();
	}

}
