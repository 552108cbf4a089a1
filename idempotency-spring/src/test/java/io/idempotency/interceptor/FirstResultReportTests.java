package io.idempotency.interceptor;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.idempotency.Idempotent;
import jakarta.persistence.Entity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** Whoever gets something else on a replay is told at the first result. */
@ExtendWith(OutputCaptureExtension.class)
class FirstResultReportTests {

	@Test
	void aResultThatReadsBackDifferentlyIsReportedOnceForItsOperation(CapturedOutput output) {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Animals.class)) {
			Animals animals = context.getBean(Animals.class);
			assertThat(animals.find("1")).isInstanceOf(Dog.class);
			assertThat(animals.find("1")).isExactlyInstanceOf(Animal.class);
			animals.find("2");
			assertThat(output).containsOnlyOnce("WARN").contains("'find'", Animal.class.getName());
			assertThat(animals.findLater("1").join()).isInstanceOf(Dog.class);
			animals.findLater("2").join();
			assertThat(output).containsOnlyOnce("'findLater'");
		}
	}

	@Test
	void whatComesBackAsItWasIsNotReported(CapturedOutput output) {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Animals.class)) {
			Animals animals = context.getBean(Animals.class);
			animals.dog("1");
			assertThat(animals.dog("1").legs).isEqualTo(4);
			assertThat(output).doesNotContain("WARN");
		}
	}

	@Test
	void warnsAtStartupOfResultsThatCannotBeReadBack(CapturedOutput output) {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Built.class)) {
			assertThat(output).containsOnlyOnce("Built#entity(String)' returns the entity")
				.containsOnlyOnce("Built#order(String)' returns " + Order.class.getName())
				.contains("@Jacksonized")
				.doesNotContain("Built#annotated(String)'");
		}
	}

	static class Built {

		@Idempotent("#id")
		public Stored entity(String id) {
			return new Stored();
		}

		@Idempotent("#id")
		public List<Order> order(String id) {
			return List.of(new Order(id));
		}

		@Idempotent("#id")
		public Annotated annotated(String id) {
			return new Annotated(id);
		}

	}

	@Entity
	static class Stored {

	}

	/** As Lombok makes a class with Data and Builder. */
	static class Order {

		public final String id;

		Order(String id) {
			this.id = id;
		}

	}

	static class Annotated {

		public final String id;

		@JsonCreator
		Annotated(@JsonProperty("id") String id) {
			this.id = id;
		}

	}

	static class Animals {

		@Idempotent(key = "#id", operation = "find")
		public Animal find(String id) {
			return new Dog();
		}

		@Idempotent(key = "#id", operation = "findLater")
		public CompletableFuture<Animal> findLater(String id) {
			return CompletableFuture.completedFuture(new Dog());
		}

		@Idempotent(key = "#id", operation = "dog")
		public Dog dog(String id) {
			return new Dog();
		}

	}

	static class Animal {

		public String name = "Rex";

	}

	static class Dog extends Animal {

		public int legs = 4;

	}

}
