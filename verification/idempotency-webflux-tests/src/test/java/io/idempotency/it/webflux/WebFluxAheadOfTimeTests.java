package io.idempotency.it.webflux;

import org.junit.jupiter.api.Test;

import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.ApplicationContextFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigRegistry;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.javapoet.ClassName;

import static org.assertj.core.api.Assertions.assertThat;

/** An application of WebFlux whose beans are processed ahead of time. */
class WebFluxAheadOfTimeTests {

	@Test
	void buildKnowsTheBeansAndWhatIsCalledByReflection() throws ClassNotFoundException {
		GenericApplicationContext context = (GenericApplicationContext) ApplicationContextFactory.DEFAULT
			.create(WebApplicationType.REACTIVE);
		TestPropertyValues.of("idempotency.store=memory", "idempotency.token.enabled=true").applyTo(context);
		((AnnotationConfigRegistry) context).register(WebFluxStartupTests.Application.class, TokensController.class);
		InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();
		DefaultGenerationContext generated = new DefaultGenerationContext(
				new ClassNameGenerator(ClassName.get("io.idempotency.it.webflux", "Generated")), files);
		new ApplicationContextAotGenerator().processAheadOfTime(context, generated);
		generated.writeGeneratedContent();
		assertThat(files.getGeneratedFiles(GeneratedFiles.Kind.SOURCE).keySet())
			.anyMatch((file) -> file.contains("IdempotencyWebFluxAutoConfiguration__BeanDefinitions"));
		RuntimeHints hints = generated.getRuntimeHints();
		assertThat(RuntimeHintsPredicates.reflection()
			.onMethod("io.idempotency.webflux.WebFluxTokenEndpoint", "issue")
			.invoke()).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethod(TokensController.class, "mono").invoke())
			.accepts(hints);
	}

}
