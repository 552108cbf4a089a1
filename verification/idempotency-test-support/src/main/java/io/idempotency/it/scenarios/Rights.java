package io.idempotency.it.scenarios;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.text.ParseException;
import java.time.LocalDate;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import jakarta.validation.Constraint;
import jakarta.validation.ConstraintValidator;
import jakarta.validation.ConstraintValidatorContext;
import jakarta.validation.Payload;

import org.springframework.core.convert.converter.Converter;
import org.springframework.format.Formatter;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/** Whether callers have them: what protects a handler asks. */
@Component("rights")
public class Rights {

	private static final AtomicBoolean GIVEN = new AtomicBoolean(true);

	public void give(boolean all) {
		GIVEN.set(all);
	}

	public boolean check() {
		return GIVEN.get();
	}

	public void require() {
		if (!check()) {
			throw new ResponseStatusException(HttpStatus.FORBIDDEN);
		}
	}

	/** What only those with rights are given. */
	public record Tenant(String name) {
	}

	/** Rejects to be made for those without rights; Spring converts a text by it. */
	public record Voucher(String text) {

		public Voucher {
			if (!GIVEN.get()) {
				throw new IllegalArgumentException("No rights");
			}
		}

	}

	/** Counts how often it is parsed. */
	public record Body(String text) {

		private static final AtomicInteger PARSED = new AtomicInteger();

		public Body {
			PARSED.incrementAndGet();
		}

		public static int parsed() {
			return PARSED.get();
		}

	}

	/** Has a validator that looks at the rights. */
	public record Checked(@ByOwner String text) {
	}

	/** Its validator looks at the rights. */
	@Target({ ElementType.FIELD, ElementType.TYPE_USE })
	@Retention(RetentionPolicy.RUNTIME)
	@Constraint(validatedBy = Validator.class)
	public @interface ByOwner {

		String message() default "not the owner";

		Class<?>[] groups() default {};

		Class<? extends Payload>[] payload() default {};

	}

	/** Made by Spring, which knows the rights. */
	public record Validator(Rights rights) implements ConstraintValidator<ByOwner, String> {

		@Override
		public boolean isValid(String text, ConstraintValidatorContext context) {
			return this.rights.check();
		}

	}

	/** Converts a day for those with rights. */
	public record DayConverter(Rights rights) implements Converter<String, LocalDate> {

		@Override
		public LocalDate convert(String text) {
			this.rights.require();
			return LocalDate.parse(text);
		}

	}

	/** Reads a day for those with rights. */
	public record DayFormatter(Rights rights) implements Formatter<LocalDate> {

		@Override
		public LocalDate parse(String text, Locale locale) throws ParseException {
			if (!this.rights.check()) {
				throw new ParseException(text, 0);
			}
			return LocalDate.parse(text);
		}

		@Override
		public String print(LocalDate day, Locale locale) {
			return day.toString();
		}

	}

}
