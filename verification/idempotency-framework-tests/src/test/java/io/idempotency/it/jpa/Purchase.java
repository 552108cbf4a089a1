package io.idempotency.it.jpa;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Version;
import jakarta.validation.constraints.NotBlank;
import org.jspecify.annotations.Nullable;

/**
 * What a customer has bought. Its identifier comes from a sequence, so nothing is
 * inserted before the flush.
 */
@Entity
class Purchase {

	@Id
	@GeneratedValue(strategy = GenerationType.SEQUENCE)
	private @Nullable Long id;

	@Column(unique = true)
	private String ref;

	@NotBlank
	private String note;

	/** Is counted by the flush. */
	@Version
	private @Nullable Integer version;

	Purchase(String ref, String note) {
		this.ref = ref;
		this.note = note;
	}

	protected Purchase() {
		this("", "");
	}

	public @Nullable Long getId() {
		return this.id;
	}

	public String getRef() {
		return this.ref;
	}

	public String getNote() {
		return this.note;
	}

	void setNote(String note) {
		this.note = note;
	}

	public @Nullable Integer getVersion() {
		return this.version;
	}

}
