"""Evaluate trees and compare expressions and equations by value."""
